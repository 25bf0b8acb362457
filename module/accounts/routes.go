package accounts

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// endpoint serves one method of a route.
type endpoint struct {
	access call.Access
	body   bool // the request has a JSON object
	serve  func(*Accounts, *call.Call) (any, error)
}

// part is a part of the accounts, whose methods serve endpoints.
type part[T any] func(*Accounts) T

// plain returns an endpoint whose requests have no body.
func (of part[T]) plain(to call.Access, serve func(T, *call.Call) (any, error)) endpoint {
	return endpoint{to, false, func(a *Accounts, c *call.Call) (any, error) { return serve(of(a), c) }}
}

// object returns an endpoint whose requests have a JSON object.
func (of part[T]) object(to call.Access, serve func(T, *call.Call) (any, error)) endpoint {
	e := of.plain(to, serve)
	e.body = true
	return e
}

// taking returns the endpoint of a list that refuses parameters with other names: without a
// filter whose name is mistyped, the list would have items that the client excludes.
func (e endpoint) taking(names ...string) endpoint {
	serve := e.serve
	e.serve = func(a *Accounts, c *call.Call) (any, error) {
		for _, name := range slices.Sorted(maps.Keys(c.URL.Query())) {
			if !slices.Contains(names, name) {
				return nil, answer.Invalid("unknown parameter %.40q; %sknown are: %s", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
			}
		}
		return serve(a, c)
	}
	return e
}

// The parameters of lists.
var (
	pageParameters   = []string{"from", "to", "format", "limit", "after"}
	auditParameters  = slices.Concat([]string{"actor", "object", "action"}, pageParameters)
	usageParameters  = slices.Concat([]string{"team", "by", "key", "user", "tag", "customer", "largest", "measure"}, pageParameters)
	recordParameters = slices.Concat(recordFilters, pageParameters)
	recordFilters    = []string{
		"team", "key", "user", "model", "outcome", "request", "limit_name", "operation", "client_format", "provider", "upstream_model",
		"status", "stream", "tag", "customer",
	}
	stateParameters = []string{"team", "user", "key", "name", "customer", "limit", "after"}
)

var (
	ofOwnAccount = part[ownAccount]((*Accounts).ownAccount)
	ofLogins     = part[logins]((*Accounts).logins)
	ofUsers      = part[users]((*Accounts).users)
	ofKeys       = part[keys]((*Accounts).keys)
	ofReports    = part[reports.Reports]((*Accounts).reports)
	ofCaptures   = part[reports.Captures]((*Accounts).captures)
	ofMachine    = part[machine]((*Accounts).machine)
	ofSignIns    = part[signIns]((*Accounts).signIns)
	ofIdentities = part[identities]((*Accounts).identities)
	ofTeams      = part[teams]((*Accounts).teams)
)

type methods map[string]endpoint

// route is a row of a route table. Its path has at most one variable part: {id}, a
// number, or {name}.
type route struct {
	path string
	methods
}

type routes []route

// loginPath is also in the routes of package gateway, which serves it without accounts.
const loginPath = "/api/user/login"

// public are the routes below /api/.
var public = routes{
	{"/api/openapi.json", methods{"GET": {call.Anyone, false, openAPI}}},

	{loginPath, methods{"POST": ofLogins.object(call.Anyone, logins.logIn)}},
	{"/api/session", methods{"GET": ofOwnAccount.plain(call.Anyone, ownAccount.present)}},
	{"/api/signin", methods{"GET": ofSignIns.plain(call.Anyone, signIns.ways)}},
	{signin.Path + "{name}", methods{"GET": ofSignIns.plain(call.Anyone, signIns.begin)}},
	{signin.Path + "{name}" + signin.CallbackSuffix, methods{"GET": ofSignIns.plain(call.Anyone, signIns.finish)}},
	{"/api/user/register", methods{"POST": ofOwnAccount.object(call.Anyone, ownAccount.register)}},
	// Existing clients log out with GET.
	{"/api/user/logout", methods{
		"GET":  ofLogins.plain(call.Anyone, logins.logOut),
		"POST": ofLogins.plain(call.Anyone, logins.logOut),
	}},
	{"/api/user/self", methods{
		"GET": ofOwnAccount.plain(call.LoggedIn, ownAccount.show),
		"PUT": ofOwnAccount.object(call.LoggedIn, ownAccount.change),
	}},
	{"/api/user/sessions", methods{
		"GET":    ofLogins.plain(call.LoggedIn, logins.list),
		"DELETE": ofLogins.plain(call.LoggedIn, logins.revokeOthers),
	}},
	{"/api/user/sessions/{id}", methods{"DELETE": ofLogins.plain(call.LoggedIn, logins.revoke)}},

	{"/api/user", userList},
	{"/api/user/", userList},
	{"/api/user/search", methods{"GET": ofUsers.plain(call.Admins, users.list)}},
	{"/api/user/manage", methods{"POST": ofUsers.object(call.Admins, users.manage)}},
	{"/api/user/{id}/sessions", methods{
		"GET":    ofLogins.plain(call.Admins, logins.listOf),
		"DELETE": ofLogins.plain(call.Admins, logins.revokeAllOf),
	}},
	{"/api/user/{id}/identities", methods{
		"GET":    ofIdentities.plain(call.Admins, listIdentities.ofUser),
		"POST":   ofIdentities.object(call.Admins, linkIdentity.ofUser),
		"DELETE": ofIdentities.plain(call.Admins, deleteIdentities.ofUser),
	}},
	{"/api/user/{id}", methods{
		"GET":    ofUsers.plain(call.Admins, users.show),
		"DELETE": ofUsers.plain(call.Admins, users.remove),
	}},

	{"/api/token", keyList},
	{"/api/token/", keyList},
	{"/api/token/search", methods{"GET": ofKeys.plain(call.LoggedIn, keys.list)}},
	{"/api/token/{id}", methods{
		"GET":    ofKeys.plain(call.LoggedIn, keys.show),
		"DELETE": ofKeys.plain(call.LoggedIn, keys.remove),
	}},

	{"/api/usage", methods{"GET": ofReports.plain(call.LoggedIn, reports.Reports.Usage).taking(usageParameters...)}},
	{"/api/usage/records", methods{"GET": ofReports.plain(call.LoggedIn, reports.Reports.Records).taking(recordParameters...)}},
	{"/api/usage/records/live", methods{"GET": ofReports.plain(call.LoggedIn, reports.Reports.Live).taking(recordFilters...)}},
	{"/api/usage/records/{id}", methods{"GET": ofReports.plain(call.LoggedIn, reports.Reports.Record)}},
	{"/api/limits", methods{"GET": ofReports.plain(call.LoggedIn, reports.Reports.LimitStates).taking(stateParameters...)}},

	{"/api/captures", methods{
		"GET":  ofCaptures.plain(call.LoggedIn, reports.Captures.List),
		"POST": ofCaptures.plain(call.LoggedIn, reports.Captures.Start),
	}},
	{"/api/captures/{name}", methods{"GET": ofCaptures.plain(call.LoggedIn, reports.Captures.Show)}},

	{"/api/keys", methods{
		"GET":  ofMachine.plain(call.TeamAdmins, machine.pageOfKeys),
		"POST": ofMachine.object(call.TeamAdmins, machine.addKey),
	}},
	{"/api/keys/{id}", methods{
		"GET":    ofMachine.plain(call.TeamAdmins, machine.showKey),
		"PATCH":  ofMachine.object(call.TeamAdmins, machine.changeKey),
		"DELETE": ofMachine.plain(call.TeamAdmins, machine.removeKey),
	}},

	{"/api/teams", methods{
		"GET":  ofTeams.plain(call.LoggedIn, teams.list),
		"POST": ofTeams.object(call.Admins, teams.add),
	}},
	{"/api/teams/{name}", methods{
		"GET":    ofTeams.plain(call.LoggedIn, teams.show),
		"PATCH":  ofTeams.object(call.Admins, teams.change),
		"DELETE": ofTeams.plain(call.Admins, teams.remove),
	}},
	{"/api/teams/{name}/members", methods{
		"GET":    ofTeams.plain(call.LoggedIn, teams.members),
		"PUT":    ofTeams.object(call.LoggedIn, teams.setMember),
		"DELETE": ofTeams.plain(call.LoggedIn, teams.removeMember),
	}},

	{"/api/keys/configured", methods{"GET": {call.LoggedIn, false, configuredKeys}}},
	{"/api/audit", methods{"GET": ofReports.plain(call.Roots, reports.Reports.Audit).taking(auditParameters...)}},
	{"/api/status", view("status")},
	{"/api/targets", view("targets")},
	{"/api/targets/probe", methods{"POST": view("probe")["GET"]}},
	{"/api/health", view("health")},
	{"/api/explain", view("explain")},
	{"/api/configuration", view("configuration")},
	{"/api/prices", view("prices")},
}

// view returns the methods of a view of the gateway.
func view(name string) methods {
	return methods{"GET": {call.Admins, false, func(a *Accounts, c *call.Call) (any, error) { return a.sites.view(name, c.URL.Query()) }}}
}

// view returns what a view shows.
func (s *sites) view(name string, query url.Values) (any, error) {
	show := s.views[name]
	if show == nil {
		return nil, errNoRoute
	}
	return show(query)
}

// configuredKeys answers GET /api/keys/configured with the keys outside of the store. Users see
// those whose owner they are.
func configuredKeys(a *Accounts, c *call.Call) (any, error) {
	query := c.URL.Query()
	if c.User.Role < aigateway.RoleAdmin {
		if other := query.Get("user"); other != "" && other != c.User.Name {
			return nil, answer.Refuse(http.StatusForbidden, "only administrators may see the keys of others")
		}
		query.Set("user", c.User.Name)
	}
	return a.sites.view("keys", query)
}

var userList = methods{
	"GET":  ofUsers.plain(call.Admins, users.list),
	"POST": ofUsers.object(call.Admins, users.add),
	"PUT":  ofUsers.object(call.Admins, users.update),
}

var keyList = methods{
	"GET":  ofKeys.plain(call.LoggedIn, keys.list),
	"POST": ofKeys.object(call.LoggedIn, keys.add),
	"PUT":  ofKeys.object(call.LoggedIn, keys.update),
}

// admin are the routes below /ai_gateway/.
var admin = routes{
	{"/ai_gateway/users", methods{
		"GET":  ofMachine.plain(call.LocalAdmin, machine.listUsers),
		"POST": ofMachine.object(call.LocalAdmin, machine.addUser),
	}},
	{"/ai_gateway/users/{name}", methods{
		"GET":    ofMachine.plain(call.LocalAdmin, machine.showUser),
		"PATCH":  ofMachine.object(call.LocalAdmin, machine.changeUser),
		"DELETE": ofMachine.plain(call.LocalAdmin, machine.removeUser),
	}},
	{"/ai_gateway/users/{name}/password", methods{"POST": ofMachine.object(call.LocalAdmin, machine.setPassword)}},
	{"/ai_gateway/users/{name}/identities", methods{
		"GET":    ofIdentities.plain(call.LocalAdmin, listIdentities.ofNamed),
		"POST":   ofIdentities.object(call.LocalAdmin, linkIdentity.ofNamed),
		"DELETE": ofIdentities.plain(call.LocalAdmin, deleteIdentities.ofNamed),
	}},
	{"/ai_gateway/keys", methods{
		"GET":  ofMachine.plain(call.LocalAdmin, machine.listKeys),
		"POST": ofMachine.object(call.LocalAdmin, machine.addKey),
	}},
	{"/ai_gateway/keys/{id}", methods{
		"GET":    ofMachine.plain(call.LocalAdmin, machine.showKey),
		"PATCH":  ofMachine.object(call.LocalAdmin, machine.changeKey),
		"DELETE": ofMachine.plain(call.LocalAdmin, machine.removeKey),
	}},
	{"/ai_gateway/teams", methods{
		"GET":  ofTeams.plain(call.LocalAdmin, teams.listAll),
		"POST": ofTeams.object(call.LocalAdmin, teams.add),
	}},
	{"/ai_gateway/teams/{name}", methods{
		"GET":    ofTeams.plain(call.LocalAdmin, teams.show),
		"PATCH":  ofTeams.object(call.LocalAdmin, teams.change),
		"DELETE": ofTeams.plain(call.LocalAdmin, teams.remove),
	}},
	{"/ai_gateway/teams/{name}/members", methods{
		"GET":    ofTeams.plain(call.LocalAdmin, teams.allMembers),
		"PUT":    ofTeams.object(call.LocalAdmin, teams.setMember),
		"DELETE": ofTeams.plain(call.LocalAdmin, teams.removeMember),
	}},
	{"/ai_gateway/usage", methods{"GET": ofReports.plain(call.LocalAdmin, reports.Reports.Usage).taking(usageParameters...)}},
	{"/ai_gateway/usage/records", methods{"GET": ofReports.plain(call.LocalAdmin, reports.Reports.Records).taking(recordParameters...)}},
	{"/ai_gateway/audit", methods{"GET": ofReports.plain(call.LocalAdmin, reports.Reports.Audit).taking(auditParameters...)}},
}

// find returns the methods of a path, and the variable part of the path.
func (table routes) find(sent string) (found methods, pathValue string, err error) {
	for _, row := range table {
		if pathValue, ok := row.match(sent); ok {
			return row.methods, pathValue, nil
		}
	}
	return nil, "", answer.Refuse(http.StatusNotFound, "there is no such path")
}

func (row route) match(sent string) (pathValue string, ok bool) {
	before, rest, varies := strings.Cut(row.path, "{")
	if !varies {
		return "", sent == row.path
	}
	kind, after, _ := strings.Cut(rest, "}")
	pathValue, ok = strings.CutPrefix(sent, before)
	if !ok {
		return "", false
	}
	pathValue, ok = strings.CutSuffix(pathValue, after)
	if kind == "id" {
		return pathValue, ok && isID(pathValue)
	}
	return pathValue, ok && pathValue != "" && !strings.Contains(pathValue, "/")
}

// isID reports whether s is a positive number in its usual notation.
func isID(s string) bool {
	id, err := strconv.ParseInt(s, 10, 64)
	return err == nil && id > 0 && strconv.FormatInt(id, 10) == s
}

// isOwnPath reports whether a path is that of a route, or begins like one: "/api/user". The
// site must not answer mistyped paths: an empty answer with status 200 could, for example,
// look as if a key had been revoked.
func isOwnPath(sent string) bool {
	return slices.ContainsFunc(public, func(row route) bool { return strings.HasPrefix(sent+"/", row.root()+"/") })
}

// root returns the first two segments of the path.
func (row route) root() string {
	const api = "/api/"
	first, _, _ := strings.Cut(strings.TrimPrefix(row.path, api), "/")
	return api + first
}

// findPublic returns the methods of a path below /api/. It refuses a path with encoded
// characters, because a guard in front of the gateway may read it as another path. If only
// the notation of a path is wrong, the problem contains the right path, which consists of
// words of the table and digits.
func findPublic(u *url.URL) (methods, string, error) {
	found, pathValue, err := public.find(u.Path)
	if err == nil && u.RawPath == "" {
		return found, pathValue, nil
	}
	plain := strings.ToLower(path.Clean(u.Path))
	if _, _, err := public.find(plain); err == nil {
		return nil, "", answer.Refuse(http.StatusNotFound, "there is no such path: did you mean %s?", plain)
	}
	return nil, "", errNoRoute
}

var errNoRoute = answer.Refuse(http.StatusNotFound, "there is no such path: users, sessions and keys are identified by numbers")

// allowed returns the list of the methods of a route.
func (m methods) allowed() string {
	names := make([]string, 0, len(m)+1)
	for name := range m {
		names = append(names, name)
	}
	if _, ok := m[http.MethodGet]; ok {
		names = append(names, http.MethodHead)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// of returns the endpoint of a method. HEAD has the endpoint of GET.
func (m methods) of(method string) (endpoint, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e, ok := m[method]
	return e, ok
}
