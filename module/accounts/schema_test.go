package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	assert.Equal(s.t, "application/json", answer.header.Get("Content-Type"))
	path := documented(r.URL.Path)
	name := fmt.Sprintf("%s %s %d", r.Method, path, answer.status)
	complaint := s.document.Check(r.Method, path, answer.status, []byte(answer.body))
	if answer.status == http.StatusMethodNotAllowed || strings.HasPrefix(answer.body, `{"success":false`) && answer.status == http.StatusOK {
		// info and the operation describe answers for unknown paths and for login_status compat
		complaint = s.document.CheckResponse(s.document.Component("Invalid"), []byte(answer.body))
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
	for _, row := range public {
		if _, ok := row.match(path); !ok {
			continue
		}
		if row.path == "/api/user" || row.path == "/api/token" {
			return row.path + "/"
		}
		return row.path
	}
	return path
}

// operations returns the operations of accounts in the document.
func operations(t *testing.T) []openapi.Operation {
	described := openapi.ParseDocument(t, openAPIDocument).Operations("/api/")
	// The gateway itself answers requests with an API key.
	return slices.DeleteFunc(described, func(o openapi.Operation) bool { return o.Path == "/api/usage/token" })
}

// The page of the paths once lacked teams, the audit log and the sign-in: behind its matcher,
// they were answered by the site.
func TestThePageOfPathsNamesEveryRoute(t *testing.T) {
	page, err := os.ReadFile("../../caddyfile/paths.md")
	require.NoError(t, err)
	table, rest, _ := strings.Cut(string(page), "## Other paths of the site")
	listed, matched, _ := strings.Cut(rest, "@gateway path ")
	matched, _, _ = strings.Cut(matched, "\n")
	for _, row := range public {
		assert.Contains(t, table, row.root(), "the table of endpoints")
		assert.Contains(t, listed, "`"+row.root()+"`", "the list of handled paths")
		assert.Contains(t, strings.Fields(matched), row.root(), "the matcher")
		if below, found := strings.CutPrefix(row.path, row.root()+"/"); found && below != "" {
			assert.Contains(t, strings.Fields(matched), row.root()+"/*", "the matcher")
		}
	}
}

func TestDocumentAndRouteTableNameTheSameOperations(t *testing.T) {
	described, routed := map[string]bool{}, map[string]bool{}
	for _, o := range operations(t) {
		described[o.Method+" "+o.Path] = true
	}
	for _, row := range public {
		for method := range row.methods {
			routed[method+" "+documented(strings.ReplaceAll(row.path, "{id}", "1"))] = true
		}
	}
	assert.Equal(t, described, routed)
}

// A filter with a mistyped name was once ignored: GET /api/audit?actr=user/alice answered with the
// changes of all users.
func TestListsRefuseParametersThatTheDocumentDoesNotName(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal(openAPIDocument, &document))
	s, root := rooted(t, map[string]bool{}, nil)
	for path, taken := range map[string][]string{
		"/api/audit": auditParameters, "/api/usage": usageParameters, "/api/usage/records": recordParameters,
		"/api/usage/records/live": recordFilters, "/api/limits": stateParameters,
	} {
		var named []string
		for _, parameter := range document.Paths[path]["get"].Parameters {
			named = append(named, parameter.Name)
		}
		assert.ElementsMatch(t, named, taken, path)
		answer := s.ask(testRequest{call: "GET " + path + "?custmer=x&afte=x", token: root})
		assert.Equal(t, http.StatusBadRequest, answer.status, path)
		assert.Contains(t, answer.body, `unknown parameter \"afte\"`, path)
	}
	answer := s.admin("GET /ai_gateway/audit?actr=user/root", "")
	assert.Equal(t, http.StatusBadRequest, answer.status)
	assert.Equal(t, `{"error":"unknown parameter \"actr\"; did you mean 'actor'? known are: actor, object, action, from, to, format, limit, after"}`, answer.body)
}
