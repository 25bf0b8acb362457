package accounts

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// access is the group of clients that may use an endpoint.
type access int

const (
	anyone     access = iota
	loggedIn          // users with a session
	admins            // users with a session and a role above RoleUser
	localAdmin        // the admin API and the commands of this machine, without a login
)

// endpoint serves one method of a route.
type endpoint struct {
	access access
	body   bool // the request has a JSON object
	serve  func(*Accounts, *call) (any, error)
}

type methods map[string]endpoint

// route is a row of a route table. Its path has at most one variable part: {id}, a
// number, or {name}.
type route struct {
	path string
	methods
}

type routes []route

const loginPath = "/api/user/login"

// public are the routes below /api/.
var public = routes{
	{"/api/openapi.json", methods{"GET": {anyone, false, (*Accounts).openAPI}}},

	{loginPath, methods{"POST": {anyone, true, (*Accounts).logIn}}},
	{"/api/user/register", methods{"POST": {anyone, true, (*Accounts).register}}},
	// Existing clients log out with GET.
	{"/api/user/logout", methods{
		"GET":  {anyone, false, (*Accounts).logout},
		"POST": {anyone, false, (*Accounts).logout},
	}},
	{"/api/user/self", methods{
		"GET": {loggedIn, false, (*Accounts).self},
		"PUT": {loggedIn, true, (*Accounts).changeSelf},
	}},
	{"/api/user/sessions", methods{
		"GET":    {loggedIn, false, (*Accounts).sessions},
		"DELETE": {loggedIn, false, (*Accounts).revokeOthers},
	}},
	{"/api/user/sessions/{id}", methods{"DELETE": {loggedIn, false, (*Accounts).revoke}}},

	{"/api/user", users},
	{"/api/user/", users},
	{"/api/user/search", methods{"GET": {admins, false, (*Accounts).listUsers}}},
	{"/api/user/manage", methods{"POST": {admins, true, (*Accounts).manageUser}}},
	{"/api/user/{id}", methods{
		"GET":    {admins, false, (*Accounts).showUser},
		"DELETE": {admins, false, (*Accounts).removeUser},
	}},

	{"/api/token", tokens},
	{"/api/token/", tokens},
	{"/api/token/search", methods{"GET": {loggedIn, false, (*Accounts).listKeys}}},
	{"/api/token/{id}", methods{
		"GET":    {loggedIn, false, (*Accounts).showKey},
		"DELETE": {loggedIn, false, (*Accounts).removeKey},
	}},

	{"/api/usage", methods{"GET": {loggedIn, false, (*Accounts).usage}}},
	{"/api/usage/records", methods{"GET": {loggedIn, false, (*Accounts).records}}},
	{"/api/limits", methods{"GET": {loggedIn, false, (*Accounts).limitStates}}},
}

var users = methods{
	"GET":  {admins, false, (*Accounts).listUsers},
	"POST": {admins, true, (*Accounts).addUser},
	"PUT":  {admins, true, (*Accounts).updateUser},
}

var tokens = methods{
	"GET":  {loggedIn, false, (*Accounts).listKeys},
	"POST": {loggedIn, true, (*Accounts).addKey},
	"PUT":  {loggedIn, true, (*Accounts).updateKey},
}

// admin are the routes below /ai_gateway/.
var admin = routes{
	{"/ai_gateway/users", methods{
		"GET":  {localAdmin, false, (*Accounts).adminListUsers},
		"POST": {localAdmin, true, (*Accounts).adminAddUser},
	}},
	{"/ai_gateway/users/{name}", methods{
		"GET":    {localAdmin, false, (*Accounts).adminShowUser},
		"PATCH":  {localAdmin, true, (*Accounts).adminChangeUser},
		"DELETE": {localAdmin, false, (*Accounts).adminRemoveUser},
	}},
	{"/ai_gateway/users/{name}/password", methods{"POST": {localAdmin, true, (*Accounts).adminSetPassword}}},
	{"/ai_gateway/keys", methods{
		"GET":  {localAdmin, false, (*Accounts).adminListKeys},
		"POST": {localAdmin, true, (*Accounts).adminAddKey},
	}},
	{"/ai_gateway/keys/{id}", methods{"DELETE": {localAdmin, false, (*Accounts).adminRemoveKey}}},
	{"/ai_gateway/usage", methods{"GET": {localAdmin, false, (*Accounts).usage}}},
	{"/ai_gateway/usage/records", methods{"GET": {localAdmin, false, (*Accounts).records}}},
}

// find returns the methods of a path, and the variable part of the path.
func (table routes) find(sent string) (found methods, pathValue string, ok bool) {
	for _, row := range table {
		if pathValue, ok := row.match(sent); ok {
			return row.methods, pathValue, true
		}
	}
	return nil, "", false
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

// isOwnPath reports whether a path is that of the OpenAPI document, or below /api/user,
// /api/token, /api/usage or /api/limits. The site must not answer mistyped paths: an empty answer with
// status 200 could, for example, look as if a key had been revoked.
func isOwnPath(sent string) bool {
	return sent == "/api/openapi.json" ||
		strings.HasPrefix(sent+"/", "/api/user/") || strings.HasPrefix(sent+"/", "/api/token/") ||
		strings.HasPrefix(sent+"/", "/api/usage/") || strings.HasPrefix(sent+"/", "/api/limits/")
}

// hasRoute reports whether a path has a route and contains no encoded characters. A guard
// in front of the gateway may read an encoded path as another path.
func hasRoute(u *url.URL) bool {
	_, _, ok := public.find(u.Path)
	return ok && u.RawPath == ""
}

// noRoute returns the problem for a path without a route. If only the notation of the
// path is wrong, the problem contains the right path, which consists of words of the
// table and digits.
func noRoute(u *url.URL) *problem {
	plain := strings.ToLower(path.Clean(u.Path))
	if _, _, ok := public.find(plain); ok {
		return refuse(http.StatusNotFound, "there is no such path: did you mean %s?", plain)
	}
	return errNoRoute
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
