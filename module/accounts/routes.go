package accounts

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/console"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// root is the beginning of the paths of the API.
const root = "/api/v1/"

// loginPath is also in package gateway/request/routes, which refuses it on sites without accounts.
const loginPath = "/api/user/login"

// routes returns the routes of the API.
func (a *Accounts) routes() []call.Route {
	return slices.Concat(
		[]call.Route{
			{Pattern: "GET /api/openapi.json", Access: call.Anyone, Handler: call.Plain(openAPI)},
			{Pattern: "POST " + loginPath, Access: call.Anyone, Handler: call.LenientBody(logins{a.people}.specified), Envelope: true},
		},
		a.routesOfSessions(), a.routesOfPeople(), a.routesOfTeams(), a.routesOfReports(), a.routesOfSites(),
	)
}

// foreign returns the routes of the guest, which speaks the format of another product.
func foreign(guest guest, people *people.People) []call.Route {
	routes := guest.Routes(people)
	for i := range routes {
		routes[i].Envelope = true
	}
	return routes
}

func (a *Accounts) routesOfSessions() []call.Route {
	login, ways, captures := logins{a.people}, signIns{&a.SignIn, a.people, !a.ConsoleOff}, reports.Captures{Disabled: a.CaptureOff}
	return []call.Route{
		{Pattern: "GET /api/v1/session", Access: call.Anyone, Handler: call.Plain(login.present)},
		{Pattern: "POST /api/v1/session", Access: call.Anyone, Handler: call.Body(login.begin)},
		{Pattern: "DELETE /api/v1/session", Access: call.Anyone, Handler: call.Plain(login.end)},
		{Pattern: "POST /api/v1/registration", Access: call.Anyone, Handler: call.Body(users{a.people}.register)},
		{Pattern: "GET /api/v1/signin", Access: call.Anyone, Handler: call.Plain(ways.ways)},
		{Pattern: "GET " + signin.Path + "{name}", Access: call.Anyone, Handler: call.Plain(ways.begin)},
		{Pattern: "GET " + signin.Path + "{name}" + signin.CallbackSuffix, Access: call.Anyone, Handler: call.Plain(ways.finish)},
		{Pattern: "POST /api/v1/device", Access: call.OwnSession, Handler: call.Body(devices{a.Agents}.show)},
		{Pattern: "POST /api/v1/device/answer", Access: call.OwnSession, Handler: call.Body(devices{a.Agents}.answer)},
		{Pattern: "GET /api/v1/captures", Access: call.OwnSession, Handler: call.Plain(captures.List)},
		{Pattern: "POST /api/v1/captures", Access: call.OwnSession, Handler: call.Plain(captures.Start)},
		{Pattern: "GET /api/v1/captures/{request}", Access: call.OwnSession, Handler: call.Plain(captures.Show)},
	}
}

func (a *Accounts) routesOfPeople() []call.Route {
	user, session, identity, key := users{a.people}, sessions{users{a.people}}, identities{&a.SignIn, users{a.people}}, keys{a.people}
	return []call.Route{
		{Pattern: "GET /api/v1/users", Access: call.Admins, Parameters: call.SortedParameters, Handler: call.Plain(user.list)},
		{Pattern: "POST /api/v1/users", Access: call.Admins, Handler: call.Body(user.add)},
		{Pattern: "GET /api/v1/users/{name}", Access: call.LoggedIn, Handler: call.Plain(user.show)},
		{Pattern: "PATCH /api/v1/users/{name}", Access: call.LoggedIn, Handler: call.Body(user.change)},
		{Pattern: "DELETE /api/v1/users/{name}", Access: call.LoggedIn, Handler: call.Plain(user.remove)},
		{Pattern: "POST /api/v1/users/{name}/password", Access: call.LoggedIn, Handler: call.Body(user.setPassword)},
		{Pattern: "GET /api/v1/users/{name}/sessions", Access: call.LoggedIn, Handler: call.Plain(session.list)},
		{Pattern: "DELETE /api/v1/users/{name}/sessions", Access: call.LoggedIn, Handler: call.Plain(session.endOthers)},
		{Pattern: "DELETE /api/v1/users/{name}/sessions/{id}", Access: call.LoggedIn, Handler: call.Plain(session.end)},
		{Pattern: "GET /api/v1/users/{name}/teams", Access: call.LoggedIn, Handler: call.Plain(user.teams)},
		{Pattern: "GET /api/v1/users/{name}/identities", Access: call.Admins, Handler: call.Plain(identity.list)},
		{Pattern: "POST /api/v1/users/{name}/identities", Access: call.Admins, Handler: call.Body(identity.link)},
		{Pattern: "DELETE /api/v1/users/{name}/identities", Access: call.Admins, Handler: call.Plain(identity.remove)},

		{Pattern: "GET /api/v1/keys", Access: call.LoggedIn, Parameters: keyParameters, Handler: call.Plain(key.list)},
		{Pattern: "POST /api/v1/keys", Access: call.LoggedIn, Handler: call.Body(key.add)},
		{Pattern: "GET /api/v1/keys/{id}", Access: call.LoggedIn, Handler: call.Plain(key.show)},
		{Pattern: "PATCH /api/v1/keys/{id}", Access: call.LoggedIn, Handler: call.Body(key.change)},
		{Pattern: "DELETE /api/v1/keys/{id}", Access: call.LoggedIn, Handler: call.Plain(key.remove)},
		{Pattern: "GET /api/v1/keys/{id}/refusal", Access: call.LoggedIn, Handler: call.Plain(key.refusal)},
		{Pattern: "POST /api/v1/keys/{id}/rotation", Access: call.LoggedIn, Handler: call.Body(key.rotate)},
	}
}

func (a *Accounts) routesOfTeams() []call.Route {
	team := teams{a.people}
	return []call.Route{
		{Pattern: "GET /api/v1/teams", Access: call.LoggedIn, Parameters: call.PageParameters, Handler: call.Plain(team.list)},
		{Pattern: "POST /api/v1/teams", Access: call.Admins, Handler: call.Body(team.add)},
		{Pattern: "GET /api/v1/teams/{name}", Access: call.LoggedIn, Handler: call.Plain(team.show)},
		{Pattern: "PATCH /api/v1/teams/{name}", Access: call.Admins, Handler: call.Body(team.change)},
		{Pattern: "DELETE /api/v1/teams/{name}", Access: call.Admins, Parameters: deletionParameters, Handler: call.Plain(team.remove)},
		{Pattern: "GET /api/v1/teams/{name}/members", Access: call.LoggedIn, Parameters: call.PageParameters, Handler: call.Plain(team.members)},
		{Pattern: "PUT /api/v1/teams/{name}/members/{user}", Access: call.LoggedIn, Handler: call.Body(team.setMember)},
		{Pattern: "DELETE /api/v1/teams/{name}/members/{user}", Access: call.LoggedIn, Parameters: deletionParameters, Handler: call.Plain(team.removeMember)},
	}
}

// The parameters of queries.
var (
	keyParameters        = slices.Concat([]string{"id", "user", "team", "limits"}, call.SortedParameters)
	deletionParameters   = []string{"keys"}
	periodParameters     = []string{"from", "to", "format", "limit", "after"}
	auditParameters      = slices.Concat([]string{"actor", "object", "action"}, periodParameters)
	usageParameters      = slices.Concat([]string{"team", "by", "key", "user", "model", "provider", "upstream_model", "outcome", "tag", "customer", "largest", "measure"}, periodParameters)
	recordParameters     = slices.Concat(recordFilters, []string{"sort"}, periodParameters)
	savingsParameters    = []string{"team", "key", "user", "model", "provider", "upstream_model", "outcome", "tag", "customer", "from", "to"}
	comparisonParameters = slices.Concat(recordFilters, []string{"from", "to"})
	histogramParameters  = slices.Concat(recordFilters, []string{"from", "to", "bars"})
	recordFilters        = []string{
		"team", "key", "user", "model", "outcome", "request", "limit_name", "operation", "client_format", "provider", "upstream_model",
		"status", "stream", "tag", "customer", "min_duration_ms", "min_cost_micro",
	}
	stateParameters      = []string{"team", "user", "key", "name", "customer", "limit", "after"}
	targetParameters     = []string{"limit", "after"}
	configuredParameters = []string{"user", "limit", "after"}
	priceParameters      = []string{"model", "at", "limit", "after"}
	explainParameters    = []string{"model", "format", "key", "customer", "session", "site"}
)

func (a *Accounts) routesOfReports() []call.Route {
	// The store of the people is not known before UseStore.
	report := func(serve func(reports.Reports, *call.Call) (any, error)) call.Handler {
		return call.Plain(func(c *call.Call) (any, error) { return serve(a.reports(), c) })
	}
	return []call.Route{
		{Pattern: "GET /api/v1/usage", Access: call.LoggedIn, Parameters: usageParameters, Handler: report(reports.Reports.Usage)},
		{Pattern: "GET /api/v1/usage/savings", Access: call.LoggedIn, Parameters: savingsParameters, Handler: report(reports.Reports.Savings)},
		{Pattern: "GET /api/v1/records", Access: call.LoggedIn, Parameters: recordParameters, Handler: report(reports.Reports.Records)},
		{Pattern: "GET /api/v1/records/histogram", Access: call.LoggedIn, Parameters: histogramParameters, Handler: report(reports.Reports.Histogram)},
		{Pattern: "GET /api/v1/records/comparison", Access: call.LoggedIn, Parameters: comparisonParameters, Handler: report(reports.Reports.Comparison)},
		{Pattern: "GET /api/v1/records/live", Access: call.OwnSession, Parameters: recordFilters, Handler: report(reports.Reports.Live)},
		{Pattern: "GET /api/v1/records/{id}", Access: call.LoggedIn, Parameters: []string{"team"}, Handler: report(reports.Reports.Record)},
		{Pattern: "GET /api/v1/limits", Access: call.LoggedIn, Parameters: stateParameters, Handler: report(reports.Reports.LimitStates)},
		{Pattern: "GET /api/v1/audit", Access: call.Roots, Parameters: auditParameters, Handler: report(reports.Reports.Audit)},
	}
}

func (a *Accounts) routesOfSites() []call.Route {
	show := func(part func(aigateway.State, url.Values) (any, error)) call.Handler {
		return call.Plain(func(c *call.Call) (any, error) { return a.sites.show(part, c.URL.Query()) })
	}
	return []call.Route{
		{Pattern: "GET /api/v1/keys/configured", Access: call.LoggedIn, Parameters: configuredParameters, Handler: call.Plain(a.sites.configuredKeys)},
		{Pattern: "GET /api/v1/status", Access: call.Admins, Handler: show(aigateway.State.Status)},
		{Pattern: "GET /api/v1/targets", Access: call.Admins, Parameters: targetParameters, Handler: show(aigateway.State.Targets)},
		{Pattern: "POST /api/v1/targets/probe", Access: call.Admins, Handler: show(aigateway.State.Probe)},
		{Pattern: "GET /api/v1/health", Access: call.Admins, Handler: show(aigateway.State.Health)},
		{Pattern: "GET /api/v1/mcp", Access: call.Admins, Handler: show(aigateway.State.MCPServers)},
		{Pattern: "POST /api/v1/mcp/accept", Access: call.Admins, Handler: call.Plain(a.acceptTools)},
		{Pattern: "GET /api/v1/explain", Access: call.Admins, Parameters: explainParameters, Handler: show(explainAny)},
		{Pattern: "GET /api/v1/configuration", Access: call.Admins, Handler: show(aigateway.State.Configuration)},
		{Pattern: "GET /api/v1/configuration/caddyfile", Access: call.Roots, Handler: show(aigateway.State.Caddyfile)},
		{Pattern: "GET /api/v1/prices", Access: call.Admins, Parameters: priceParameters, Handler: show(aigateway.State.Prices)},
	}
}

// explainAny explains the requests for a model, whatever their bodies.
func explainAny(s aigateway.State, query url.Values) (any, error) { return s.Explain(query, nil) }

// acceptTools accepts changed definitions of the tools of an MCP server, with a row in the audit log.
func (a *Accounts) acceptTools(c *call.Call) (any, error) {
	return a.sites.show(func(s aigateway.State, query url.Values) (any, error) {
		return s.AcceptTools(query, func(row aigateway.AuditEntry) error {
			if log, ok := a.people.Store.(aigateway.AuditLog); ok {
				return log.Audit(c.Context(), row)
			}
			return nil
		})
	}, c.URL.Query())
}

// show returns a part of the state, which only a gateway has.
func (s *sites) show(part func(aigateway.State, url.Values) (any, error), query url.Values) (any, error) {
	if s.state == nil {
		return nil, call.ErrNoPath
	}
	return part(s.state, query)
}

// configuredKeys answers with the keys outside of the store. Users see those whose owner they are.
func (s *sites) configuredKeys(c *call.Call) (any, error) {
	query := c.URL.Query()
	if !c.MayAskFor(query.Get("user")) {
		return nil, errOthersKeys
	}
	if !c.IsAdmin() {
		query.Set("user", c.User.Name)
	}
	return s.show(aigateway.State.ConfiguredKeys, query)
}

// isOwnPath reports whether a path is that of a route, or begins like one: "/api/user". The
// site must not answer mistyped paths: an empty answer with status 200 could, for example,
// look as if a key had been revoked.
func (a *Accounts) isOwnPath(sent string) bool {
	return slices.ContainsFunc(a.router.Routes, func(route call.Route) bool { return strings.HasPrefix(sent+"/", route.Root()+"/") })
}

// Serves implements aigateway.Accounts. It accepts every path of accounts, with any
// method, and with or without a route, and the paths of the console.
func (a *Accounts) Serves(r *http.Request) bool {
	return aigateway.OwnsPath(r.URL.Path, a.isOwnPath) || a.showsConsole(r) || a.Agents.Serves(r.URL.Path)
}

// ServeHTTP implements http.Handler.
func (a *Accounts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.showsConsole(r) {
		console.ServeHTTP(w, r)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff") // as in every answer of the gateway
	if a.Agents.Serves(r.URL.Path) {
		c := call.New(w, r, a.people.Store, a.Proxy)
		c.ActAs(nil, 0)
		a.Agents.Serve(w, c)
		return
	}
	w.Header().Set(configuredHeader, a.sites.provisioned)
	if err := a.router.Serve(w, r); err != nil {
		a.refuse(w, r, err, !strings.HasPrefix(path.Clean(r.URL.Path)+"/", root))
	}
}

// Admin implements aigateway.Accounts. It serves what is not of a session.
func (a *Accounts) Admin() http.Handler {
	routes := slices.DeleteFunc(slices.Clone(a.router.Routes), func(route call.Route) bool {
		return route.Envelope || route.Access == call.OwnSession || route.Access == call.Anyone
	})
	router := call.NewRouter(routes, func(w http.ResponseWriter, r *http.Request, route call.Route) {
		c := call.New(w, r, a.people.Store, a.Proxy)
		c.ActAsMachine()
		a.write(w, c, route)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := router.Serve(w, r); err != nil {
			a.refuse(w, r, err, false)
		}
	})
}

// serve answers a request that has a route.
func (a *Accounts) serve(w http.ResponseWriter, r *http.Request, route call.Route) {
	c := call.New(w, r, a.people.Store, a.Proxy)
	c.ActAs(nil, 0)
	a.write(w, c, route)
}

// write writes the answer of a route to a call.
func (a *Accounts) write(w http.ResponseWriter, c *call.Call, route call.Route) {
	data, err := route.Answer(c, a.people.BeginChange)
	if route.Path() == loginPath {
		err = a.loginError(err)
	}
	switch {
	case err != nil:
		a.refuse(w, c.Request, err, route.Envelope)
	case route.Envelope:
		answer.WriteEnvelope(w, data)
	default:
		answer.WriteJSON(w, data)
	}
}

// refuse writes the problem of a request.
func (a *Accounts) refuse(w http.ResponseWriter, r *http.Request, err error, envelope bool) {
	problem := answer.ProblemOf(a.people.Logger, err)
	if envelope {
		answer.WriteEnvelopeProblem(w, r, problem)
		return
	}
	answer.WriteProblem(w, r, problem)
}
