package accounts

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
)

// access is the group of clients that may use an endpoint.
type access int

const (
	anyone     access = iota
	loggedIn          // users with a session
	teamAdmins        // users with a session who administrate the gateway or a team
	admins            // users with a session and a role above RoleUser
	roots             // users with a session and the role RoleRoot
	localAdmin        // the admin API and the commands of this machine, without a login
)

// endpoint serves one method of a route.
type endpoint struct {
	access access
	body   bool // the request has a JSON object
	serve  func(*Accounts, *call) (any, error)
}

// part is a part of the accounts, whose methods serve endpoints.
type part[T any] func(*Accounts) T

// plain returns an endpoint whose requests have no body.
func (of part[T]) plain(to access, serve func(T, *call) (any, error)) endpoint {
	return endpoint{to, false, func(a *Accounts, c *call) (any, error) { return serve(of(a), c) }}
}

// object returns an endpoint whose requests have a JSON object.
func (of part[T]) object(to access, serve func(T, *call) (any, error)) endpoint {
	e := of.plain(to, serve)
	e.body = true
	return e
}

// taking returns the endpoint of a list that refuses parameters with other names: without a
// filter whose name is mistyped, the list would have items that the client excludes.
func (e endpoint) taking(names ...string) endpoint {
	serve := e.serve
	e.serve = func(a *Accounts, c *call) (any, error) {
		for _, name := range slices.Sorted(maps.Keys(c.URL.Query())) {
			if !slices.Contains(names, name) {
				return nil, invalid("unknown parameter %.40q; %sknown are: %s", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
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
	ofReports    = part[reports]((*Accounts).reports)
	ofCaptures   = part[captures]((*Accounts).captures)
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
	{"/api/openapi.json", methods{"GET": {anyone, false, openAPI}}},

	{loginPath, methods{"POST": ofLogins.object(anyone, logins.logIn)}},
	{"/api/session", methods{"GET": ofOwnAccount.plain(anyone, ownAccount.present)}},
	{"/api/signin", methods{"GET": ofSignIns.plain(anyone, signIns.ways)}},
	{signin.Path + "{name}", methods{"GET": ofSignIns.plain(anyone, signIns.begin)}},
	{signin.Path + "{name}" + signin.CallbackSuffix, methods{"GET": ofSignIns.plain(anyone, signIns.finish)}},
	{"/api/user/register", methods{"POST": ofOwnAccount.object(anyone, ownAccount.register)}},
	// Existing clients log out with GET.
	{"/api/user/logout", methods{
		"GET":  ofLogins.plain(anyone, logins.logOut),
		"POST": ofLogins.plain(anyone, logins.logOut),
	}},
	{"/api/user/self", methods{
		"GET": ofOwnAccount.plain(loggedIn, ownAccount.show),
		"PUT": ofOwnAccount.object(loggedIn, ownAccount.change),
	}},
	{"/api/user/sessions", methods{
		"GET":    ofLogins.plain(loggedIn, logins.list),
		"DELETE": ofLogins.plain(loggedIn, logins.revokeOthers),
	}},
	{"/api/user/sessions/{id}", methods{"DELETE": ofLogins.plain(loggedIn, logins.revoke)}},

	{"/api/user", userList},
	{"/api/user/", userList},
	{"/api/user/search", methods{"GET": ofUsers.plain(admins, users.list)}},
	{"/api/user/manage", methods{"POST": ofUsers.object(admins, users.manage)}},
	{"/api/user/{id}/sessions", methods{
		"GET":    ofLogins.plain(admins, logins.listOf),
		"DELETE": ofLogins.plain(admins, logins.revokeAllOf),
	}},
	{"/api/user/{id}/identities", methods{
		"GET":    ofIdentities.plain(admins, listIdentities.ofUser),
		"POST":   ofIdentities.object(admins, linkIdentity.ofUser),
		"DELETE": ofIdentities.plain(admins, deleteIdentities.ofUser),
	}},
	{"/api/user/{id}", methods{
		"GET":    ofUsers.plain(admins, users.show),
		"DELETE": ofUsers.plain(admins, users.remove),
	}},

	{"/api/token", keyList},
	{"/api/token/", keyList},
	{"/api/token/search", methods{"GET": ofKeys.plain(loggedIn, keys.list)}},
	{"/api/token/{id}", methods{
		"GET":    ofKeys.plain(loggedIn, keys.show),
		"DELETE": ofKeys.plain(loggedIn, keys.remove),
	}},

	{"/api/usage", methods{"GET": ofReports.plain(loggedIn, reports.usage).taking(usageParameters...)}},
	{"/api/usage/records", methods{"GET": ofReports.plain(loggedIn, reports.records).taking(recordParameters...)}},
	{"/api/usage/records/live", methods{"GET": ofReports.plain(loggedIn, reports.live).taking(recordFilters...)}},
	{"/api/usage/records/{id}", methods{"GET": ofReports.plain(loggedIn, reports.record)}},
	{"/api/limits", methods{"GET": ofReports.plain(loggedIn, reports.limitStates).taking(stateParameters...)}},

	{"/api/captures", methods{
		"GET":  ofCaptures.plain(loggedIn, captures.list),
		"POST": ofCaptures.plain(loggedIn, captures.start),
	}},
	{"/api/captures/{name}", methods{"GET": ofCaptures.plain(loggedIn, captures.show)}},

	{"/api/keys", methods{
		"GET":  ofMachine.plain(teamAdmins, machine.pageOfKeys),
		"POST": ofMachine.object(teamAdmins, machine.addKey),
	}},
	{"/api/keys/{id}", methods{
		"GET":    ofMachine.plain(teamAdmins, machine.showKey),
		"PATCH":  ofMachine.object(teamAdmins, machine.changeKey),
		"DELETE": ofMachine.plain(teamAdmins, machine.removeKey),
	}},

	{"/api/teams", methods{
		"GET":  ofTeams.plain(loggedIn, teams.list),
		"POST": ofTeams.object(admins, teams.add),
	}},
	{"/api/teams/{name}", methods{
		"GET":    ofTeams.plain(loggedIn, teams.show),
		"PATCH":  ofTeams.object(admins, teams.change),
		"DELETE": ofTeams.plain(admins, teams.remove),
	}},
	{"/api/teams/{name}/members", methods{
		"GET":    ofTeams.plain(loggedIn, teams.members),
		"PUT":    ofTeams.object(loggedIn, teams.setMember),
		"DELETE": ofTeams.plain(loggedIn, teams.removeMember),
	}},

	{"/api/keys/configured", methods{"GET": {loggedIn, false, configuredKeys}}},
	{"/api/audit", methods{"GET": ofReports.plain(roots, reports.audit).taking(auditParameters...)}},
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
	return methods{"GET": {admins, false, func(a *Accounts, c *call) (any, error) { return a.sites.view(name, c.URL.Query()) }}}
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
func configuredKeys(a *Accounts, c *call) (any, error) {
	query := c.URL.Query()
	if c.user.Role < aigateway.RoleAdmin {
		if other := query.Get("user"); other != "" && other != c.user.Name {
			return nil, refuse(http.StatusForbidden, "only administrators may see the keys of others")
		}
		query.Set("user", c.user.Name)
	}
	return a.sites.view("keys", query)
}

var userList = methods{
	"GET":  ofUsers.plain(admins, users.list),
	"POST": ofUsers.object(admins, users.add),
	"PUT":  ofUsers.object(admins, users.update),
}

var keyList = methods{
	"GET":  ofKeys.plain(loggedIn, keys.list),
	"POST": ofKeys.object(loggedIn, keys.add),
	"PUT":  ofKeys.object(loggedIn, keys.update),
}

// admin are the routes below /ai_gateway/.
var admin = routes{
	{"/ai_gateway/users", methods{
		"GET":  ofMachine.plain(localAdmin, machine.listUsers),
		"POST": ofMachine.object(localAdmin, machine.addUser),
	}},
	{"/ai_gateway/users/{name}", methods{
		"GET":    ofMachine.plain(localAdmin, machine.showUser),
		"PATCH":  ofMachine.object(localAdmin, machine.changeUser),
		"DELETE": ofMachine.plain(localAdmin, machine.removeUser),
	}},
	{"/ai_gateway/users/{name}/password", methods{"POST": ofMachine.object(localAdmin, machine.setPassword)}},
	{"/ai_gateway/users/{name}/identities", methods{
		"GET":    ofIdentities.plain(localAdmin, listIdentities.ofNamed),
		"POST":   ofIdentities.object(localAdmin, linkIdentity.ofNamed),
		"DELETE": ofIdentities.plain(localAdmin, deleteIdentities.ofNamed),
	}},
	{"/ai_gateway/keys", methods{
		"GET":  ofMachine.plain(localAdmin, machine.listKeys),
		"POST": ofMachine.object(localAdmin, machine.addKey),
	}},
	{"/ai_gateway/keys/{id}", methods{
		"GET":    ofMachine.plain(localAdmin, machine.showKey),
		"PATCH":  ofMachine.object(localAdmin, machine.changeKey),
		"DELETE": ofMachine.plain(localAdmin, machine.removeKey),
	}},
	{"/ai_gateway/teams", methods{
		"GET":  ofTeams.plain(localAdmin, teams.listAll),
		"POST": ofTeams.object(localAdmin, teams.add),
	}},
	{"/ai_gateway/teams/{name}", methods{
		"GET":    ofTeams.plain(localAdmin, teams.show),
		"PATCH":  ofTeams.object(localAdmin, teams.change),
		"DELETE": ofTeams.plain(localAdmin, teams.remove),
	}},
	{"/ai_gateway/teams/{name}/members", methods{
		"GET":    ofTeams.plain(localAdmin, teams.allMembers),
		"PUT":    ofTeams.object(localAdmin, teams.setMember),
		"DELETE": ofTeams.plain(localAdmin, teams.removeMember),
	}},
	{"/ai_gateway/usage", methods{"GET": ofReports.plain(localAdmin, reports.usage).taking(usageParameters...)}},
	{"/ai_gateway/usage/records", methods{"GET": ofReports.plain(localAdmin, reports.records).taking(recordParameters...)}},
	{"/ai_gateway/audit", methods{"GET": ofReports.plain(localAdmin, reports.audit).taking(auditParameters...)}},
}

// find returns the methods of a path, and the variable part of the path.
func (table routes) find(sent string) (found methods, pathValue string, err error) {
	for _, row := range table {
		if pathValue, ok := row.match(sent); ok {
			return row.methods, pathValue, nil
		}
	}
	return nil, "", refuse(http.StatusNotFound, "there is no such path")
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
		return nil, "", refuse(http.StatusNotFound, "there is no such path: did you mean %s?", plain)
	}
	return nil, "", errNoRoute
}

var errNoRoute = refuse(http.StatusNotFound, "there is no such path: users, sessions and keys are identified by numbers")

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
