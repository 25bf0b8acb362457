package accounts

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// access states who may use an endpoint.
type access int

const (
	anyone     access = iota
	loggedIn          // users with a session
	admins            // users with a session and a role above the smallest
	localAdmin        // no login: the admin API, and the commands on this machine
)

// endpoint is what one method of a route does.
type endpoint struct {
	access access
	body   bool // a JSON object is read first
	serve  func(*Accounts, *call) (any, error)
}

type methods map[string]endpoint

// route is a row of a route table. A path holds at most one variable part:
// {id}, a number, or {name}.
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
	// Clients of this field log out with GET.
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
}

// find returns the methods of a path and its variable part.
func (table routes) find(sent string) (found methods, variable string, ok bool) {
	for _, row := range table {
		if variable, ok := row.match(sent); ok {
			return row.methods, variable, true
		}
	}
	return nil, "", false
}

func (row route) match(sent string) (variable string, ok bool) {
	before, rest, varies := strings.Cut(row.path, "{")
	if !varies {
		return "", sent == row.path
	}
	kind, after, _ := strings.Cut(rest, "}")
	variable, ok = strings.CutPrefix(sent, before)
	if !ok {
		return "", false
	}
	variable, ok = strings.CutSuffix(variable, after)
	if kind == "id" {
		return variable, ok && isID(variable)
	}
	return variable, ok && variable != "" && !strings.Contains(variable, "/")
}

// isID reports whether s is a positive number as it is usually written. All
// else is no path of ours.
func isID(s string) bool {
	id, err := strconv.ParseInt(s, 10, 64)
	return err == nil && id > 0 && strconv.FormatInt(id, 10) == s
}

// isOurs reports whether a path is that of the document or below /api/user or
// /api/token. Whoever mistypes one of those must not take what a site answers
// for a key that is revoked.
func isOurs(sent string) bool {
	return sent == "/api/openapi.json" ||
		strings.HasPrefix(sent+"/", "/api/user/") || strings.HasPrefix(sent+"/", "/api/token/")
}

// hasRoute reports whether a path has a route and is written plainly: what is
// encoded may look like another path to whoever guards this one.
func hasRoute(u *url.URL) bool {
	_, _, ok := public.find(u.Path)
	return ok && u.RawPath == ""
}

// noRoute refuses a path, and names the one that was probably meant: the same
// path in plain writing. That holds nothing but words of the table and digits.
func noRoute(u *url.URL) *problem {
	plain := strings.ToLower(path.Clean(u.Path))
	if _, _, ok := public.find(plain); ok {
		return refuse(http.StatusNotFound, "there is nothing at this path: did you mean %s?", plain)
	}
	return errNoRoute
}

var errNoRoute = refuse(http.StatusNotFound, "there is nothing at this path: users, sessions and keys stand at their ids, which are numbers")

// allowed lists the methods of a route.
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

// of returns what answers a method; HEAD is a GET whose body is not sent.
func (m methods) of(method string) (endpoint, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e, ok := m[method]
	return e, ok
}
