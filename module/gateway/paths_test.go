package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp/endpoint"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/routes"
)

func matchesPath(t *testing.T, path string) bool {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	r.URL.Path = path
	matches, err := MatchPaths{}.MatchWithError(r)
	require.NoError(t, err)
	return matches
}

// A site with a page beside the gateway had a list of all paths, which the next path made stale.
func TestTheMatcherHasEachPathOfTheAPI(t *testing.T) {
	document, err := os.ReadFile("../accounts/openapi.json")
	require.NoError(t, err)
	var api struct{ Paths map[string]any }
	require.NoError(t, json.Unmarshal(document, &api))
	require.NotEmpty(t, api.Paths)
	for path := range api.Paths {
		if slices.ContainsFunc(SiteRoots(), func(root string) bool { return routes.IsBelow(path, root) }) {
			continue
		}
		assert.True(t, matchesPath(t, path), path)
	}
}

// A site without servers of tools may have a page of its own there.
func TestTheMatcherHasTheServersOfASite(t *testing.T) {
	site := &handler{resolved: &resolved{servers: new(endpoint.Servers)}}
	for path, want := range map[string]bool{"/mcp/tickets": true, "/mcp/other": true, "//mcp/tickets": true, "/mcp": true, "/mcps": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", nil)
		r.URL.Path = path
		matches, err := MatchPaths{app: &app{sites: []*handler{{}, site}}}.MatchWithError(r)
		require.NoError(t, err)
		assert.Equal(t, want, matches, path)
		assert.False(t, matchesPath(t, path), path)
	}
}

// agentAccounts are accounts with a path that only those with agents have.
type agentAccounts struct{ aigateway.Accounts }

func (agentAccounts) Serves(r *http.Request) bool { return r.URL.Path == "/oauth/token" }

// Behind the matcher, a site had no sign-in of agents, whose paths are not below those of other accounts.
func TestTheMatcherHasThePathsOfTheAccountsOfASite(t *testing.T) {
	site := &handler{backends: &backends.Set{Accounts: agentAccounts{}}}
	for path, want := range map[string]bool{"/oauth/token": true, "/oauth/other": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+path, nil)
		matches, err := MatchPaths{app: &app{sites: []*handler{{}, site}}}.MatchWithError(r)
		require.NoError(t, err)
		assert.Equal(t, want, matches, path)
		assert.False(t, matchesPath(t, path), path)
	}
}

func TestTheMatcherHasWholeSegments(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/messages": true, "/v1": true, "/v1beta/models/m:generateContent": true, "/v1alpha/models": true, "/v1beta1/models": true,
		"/v1/dashboard/billing/usage": true, "/dashboard/billing/subscription": true, "/livez": true, "/readyz": true,
		"/console": true, "/console/docs/limits.html": true, "/api/openapi.json": true,
		"//v1/messages": true, "/x/../v1/messages": true, // as the gateway answers them
		"/": false, "/v10": false, "/v2/models": false, "/api": false, "/api/tokens": false, "/api/v10/x": false, "/consoles": false,
		"/dashboard": false, "/messages": false, "/livez.html": false, "": false,
	} {
		assert.Equal(t, want, matchesPath(t, path), path)
	}
}
