package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// askAdmin sends a request to Caddy's admin API.
func askAdmin(s *site.Site, method, path, body string) site.Reply {
	s.T.Helper()
	return s.Call(method, s.AdminURL(path), body)
}

// loggedIn is a user with a session, at PORT(port).
type loggedIn struct {
	*site.Site
	port, token string
}

// logIn logs in at PORT(port).
func logIn(s *site.Site, port, name, password string) site.Reply {
	s.T.Helper()
	return s.Call(http.MethodPost, s.URL(port, "/api/user/login"), fmt.Sprintf(`{"username":%q,"password":%q}`, name, password))
}

// logInAs logs in with site.Password, which must succeed.
func logInAs(s *site.Site, port, name string) loggedIn {
	s.T.Helper()
	got := logIn(s, port, name, site.Password)
	require.Equal(s.T, http.StatusOK, got.Status, got.Body)
	return loggedIn{s, port, dataField(s.T, got, "access_token")}
}

// dataField returns a member of the data of an answer, as text.
func dataField(t testing.TB, r site.Reply, name string) string {
	t.Helper()
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.Body), &answer), r.Body)
	if data, ok := answer["data"].(map[string]any); ok {
		return fmt.Sprint(data[name])
	}
	return fmt.Sprint(answer[name])
}

func (u loggedIn) ask(method, path, body string) site.Reply {
	u.T.Helper()
	return u.Call(method, u.URL(u.port, path), body, "Authorization", "Bearer "+u.token)
}

// newKey makes a key and returns it with its id.
func (u loggedIn) newKey() (id, key string) {
	u.T.Helper()
	got := u.ask(http.MethodPost, "/api/token/", `{"name":"mine"}`)
	require.Equal(u.T, http.StatusOK, got.Status, got.Body)
	return dataField(u.T, got, "id"), dataField(u.T, got, "key")
}

// databaseOf returns the path of the default store.
func databaseOf(s *site.Site) string {
	return filepath.Join(s.Dir, "caddy", "ai_gateway", "gateway.db")
}

// placeholderNames are all that a site can put into its logs and headers.
var placeholderNames = []string{
	"request_id", "outcome", "key_id", "key_owner", "limit", "model", "provider", "upstream_model", "choice", "attempts", "ttfb_ms",
	"usage.input_tokens", "usage.cache_read_tokens", "usage.cache_write_tokens", "usage.output_tokens", "usage.reasoning_tokens",
}

// vendorLimits are headers about the operator's account at a provider.
var vendorLimits = map[string]string{
	"Anthropic-Ratelimit-Requests-Limit": "50", "Anthropic-Ratelimit-Tokens-Reset": "2026-01-01T00:00:00Z",
	"Anthropic-Ratelimit-Unified-5h-Status": "allowed", "X-Ratelimit-Remaining-Tokens": "149984", "X-Ratelimit-Reset-Requests": "6m0s",
}

// limited adds vendorLimits to an answer, and headers that are never forwarded.
func limited(answer gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		for name, value := range vendorLimits {
			c.Header().Set(name, value)
		}
		for _, name := range []string{"Anthropic-Organization-Id", "Openai-Organization", "X-Ratelimited-By", "Set-Cookie", "X-Custom"} {
			c.Header().Set(name, "vendor")
		}
		c.Header().Set("X-Ratelimit-Key", "of "+c.Request.Header.Get("Authorization"))
		c.Header().Set("X-Ratelimit-Long", strings.Repeat("9", 257))
		c.Header()["X-Ratelimit-Twice"] = []string{"1", "2"}
		answer(c)
	}
}
