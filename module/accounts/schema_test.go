package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/openapi"
)

// check compares an answer with the document, and records it.
func (s *site) check(r *http.Request, answer testAnswer) {
	s.t.Helper()
	if kind := answer.header.Get("Content-Type"); strings.HasPrefix(kind, "text/csv") || kind == "text/event-stream" || kind == "application/jsonl" { // the document has no schema for it
		assert.Contains(s.t, answer.header.Get("Cache-Control"), "no-store")
		s.given[fmt.Sprintf("%s %s %d", r.Method, documented(r.URL.Path), answer.status)] = true
		return
	}
	if answer.status == http.StatusSeeOther { // the document describes no body
		assert.Equal(s.t, "no-store", answer.header.Get("Cache-Control"))
		assert.Equal(s.t, "nosniff", answer.header.Get("X-Content-Type-Options"))
		assert.Empty(s.t, answer.body)
		s.given[fmt.Sprintf("%s %s %d", r.Method, documented(r.URL.Path), answer.status)] = true
		return
	}
	path, kind, refused := documented(r.URL.Path), "application/json", "Invalid"
	switch {
	case answer.status == http.StatusNoContent:
		kind = ""
	case strings.HasPrefix(r.URL.Path+"/", root) && answer.status >= http.StatusBadRequest:
		kind, refused = "application/problem+json", "ProblemInvalid"
	}
	assert.Equal(s.t, kind, answer.header.Get("Content-Type"))
	name := fmt.Sprintf("%s %s %d", r.Method, path, answer.status)
	complaint := s.document.Check(r.Method, path, answer.status, []byte(answer.body))
	if answer.status == http.StatusMethodNotAllowed || strings.HasPrefix(answer.body, `{"success":false`) && answer.status == http.StatusOK {
		// info and the operation describe answers for unknown paths and for login_status compat
		complaint = s.document.CheckResponse(s.document.Component(refused), []byte(answer.body))
	}
	assert.Empty(s.t, complaint, "%s: %s", name, answer.body)
	if path != "/api/openapi.json" {
		assert.Equal(s.t, "no-store", answer.header.Get("Cache-Control"), name)
		assert.Equal(s.t, "nosniff", answer.header.Get("X-Content-Type-Options"), name)
	}
	if answer.status == http.StatusTooManyRequests || answer.status == http.StatusServiceUnavailable {
		assert.Regexp(s.t, `^[1-9][0-9]*$`, answer.header.Get("Retry-After"), name)
	}
	s.given[name] = true
}

// documented returns a path in the form of the document, which contains optional final
// slashes.
func documented(path string) string {
	if path == "/api/user" || path == "/api/token" {
		return path + "/"
	}
	if slices.ContainsFunc(described.routes, func(route call.Route) bool { return route.Path() == path }) {
		return path
	}
	value := regexp.MustCompile(`\{\w+\}`)
	for _, route := range described.routes {
		if regexp.MustCompile("^" + value.ReplaceAllString(route.Path(), "[^/]+") + "$").MatchString(path) {
			return route.Path()
		}
	}
	return path
}

// operations returns the operations of accounts in the document.
func operations(t *testing.T) []openapi.Operation {
	described := openapi.ParseDocument(t, openAPIDocument).Operations("/api/")
	// The gateway itself answers requests with an API key, and package agents has tests of its own.
	return slices.DeleteFunc(described, func(o openapi.Operation) bool { return o.Path == "/api/usage/token" || o.Path == "/api/oauth/usage" })
}

// The page of the paths once lacked teams, the audit log and the sign-in: behind its matcher,
// they were answered by the site.
func TestThePageOfPathsNamesEveryRoute(t *testing.T) {
	page, err := os.ReadFile("../../caddyfile/docs/paths.md")
	require.NoError(t, err)
	table, rest, _ := strings.Cut(string(page), "## Other paths of the site")
	listed, _, _ := strings.Cut(rest, "\n- ")
	for _, route := range newSite(t, nil).router.Routes {
		assert.Contains(t, table, route.Root(), "the table of endpoints")
		assert.Contains(t, listed, "`"+route.Root()+"`", "the list of handled paths")
	}
}

func TestDocumentAndRouteTableNameTheSameOperations(t *testing.T) {
	described, routed := map[string]bool{}, map[string]bool{}
	for _, o := range operations(t) {
		described[o.Method+" "+o.Path] = true
	}
	for _, route := range newSite(t, nil).router.Routes {
		method, _, _ := strings.Cut(route.Pattern, " ")
		routed[method+" "+documented(route.Path())] = true
	}
	assert.Equal(t, described, routed)
}

// A filter with a mistyped name was once ignored: GET /api/v1/audit?actr=user/alice answered with the
// changes of all users.
func TestListsRefuseParametersThatTheDocumentDoesNotName(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	require.NoError(t, json.Unmarshal(openAPIDocument, &document))
	s, root := rooted(t, map[string]bool{}, nil)
	for _, route := range s.router.Routes {
		method, path, _ := strings.Cut(route.Pattern, " ")
		var named []string
		for _, parameter := range document.Paths[path][strings.ToLower(method)].Parameters {
			if parameter.In == "query" {
				named = append(named, parameter.Name)
			}
		}
		if route.Parameters == nil {
			continue
		}
		assert.ElementsMatch(t, named, route.Parameters, route.Pattern)
		answer := s.ask(testRequest{call: withValues(route.Pattern) + "?custmer=x&afte=x", token: root})
		assert.Equal(t, http.StatusBadRequest, answer.status, route.Pattern)
		assert.Contains(t, answer.body, `unknown parameter \"afte\"`, route.Pattern)
	}
	answer := s.admin("GET /api/v1/audit?actr=user/root", "")
	assert.Equal(t, http.StatusBadRequest, answer.status)
	assert.Equal(t, problem(400, `unknown parameter "actr"; did you mean 'actor'? known are: actor, object, action, from, to, format, limit, after`), answer.body)
}
