package access_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// postForm sends a form without a key, and returns the status and the members of the answer.
func postForm(s *site.Site, path string, form url.Values) (int, map[string]any) {
	s.T.Helper()
	got := s.Call(http.MethodPost, s.URL("site", path), form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var members map[string]any
	require.NoError(s.T, json.Unmarshal([]byte(got.Body), &members), got.Body)
	return got.Status, members
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// A program that a person has let in works as the person, until the person is disabled. A page of
// another site, which the browser gives the session of the person, lets nothing in.
func TestAnAgentWorksAsThePersonUntilThePersonIsDisabled(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "store sqlite "+t.TempDir()+"/gateway.db\naccounts {\nagents\n}")
	s.AddUser("alice")
	_, begun := postForm(s, "/oauth/device_authorization", nil)
	body := `{"code":"` + begun["user_code"].(string) + `","confirm":true}`
	login := s.Call(http.MethodPost, s.URL("site", "/api/v1/session"), `{"username":"alice","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, login.Status, login.Body)
	cookie, _, _ := strings.Cut(login.Header.Get("Set-Cookie"), ";")
	answer := func(headers ...string) int {
		return s.Call(http.MethodPost, s.URL("site", "/api/v1/device/answer"), body, headers...).Status
	}
	for _, fetched := range []string{"cross-site", "same-site"} {
		assert.Equal(t, http.StatusForbidden, answer("Cookie", cookie, "Sec-Fetch-Site", fetched))
	}
	assert.Equal(t, http.StatusForbidden, answer("Cookie", cookie, "Origin", "https://evil.example"))
	assert.Equal(t, http.StatusUnauthorized, answer())
	require.Equal(t, http.StatusNoContent, answer("Cookie", cookie, "Sec-Fetch-Site", "same-origin"))

	status, tokens := postForm(s, "/oauth/token", url.Values{"grant_type": {deviceGrant}, "device_code": {begun["device_code"].(string)}})
	require.Equal(t, http.StatusOK, status, tokens)
	bearer := []string{"Authorization", "Bearer " + tokens["access_token"].(string)}
	ask := func() int {
		return s.Call(http.MethodPost, s.URL("site", "/v1/chat/completions"), `{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`, bearer...).Status
	}
	assert.Equal(t, http.StatusOK, ask())
	disabled := s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/alice"), `{"disabled":true}`)
	require.Equal(t, http.StatusOK, disabled.Status, disabled.Body)
	assert.Equal(t, http.StatusUnauthorized, ask())
	status, refused := postForm(s, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}})
	assert.Equal(t, []any{http.StatusUnauthorized, "invalid_grant"}, []any{status, refused["error"]})
	for _, secret := range []string{tokens["access_token"].(string), tokens["refresh_token"].(string), begun["device_code"].(string), begun["user_code"].(string)} {
		assert.NotContains(t, s.Logs.String(), secret)
	}
}

// Claude Code took Caddy's empty 200 for a gateway that signs people in.
func TestASiteWithoutAgentsHasNoPathsOfTheirSignIn(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "accounts {\n}")
	for _, path := range []string{"/protocol", "/.well-known/oauth-authorization-server", "/oauth/device_authorization", "/oauth/token", "/managed/settings"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			got := s.Call(method, s.URL("site", path), "", "Anthropic-Version", "2023-06-01")
			assert.Equal(t, http.StatusNotFound, got.Status, path)
			assert.Contains(t, got.Body, "the gateway does not serve", path)
		}
	}
}

// Behind a proxy that ends TLS, programs got addresses with http and the inner name of the gateway.
func TestAgentsGetThePublicURL(t *testing.T) {
	s := site.Start(t, site.DemoProvider, "public_url https://ai.example.com/base/", "store sqlite "+t.TempDir()+"/gateway.db\naccounts {\nagents\n}")
	_, begun := postForm(s, "/oauth/device_authorization", nil)
	assert.Equal(t, "https://ai.example.com/base/device", begun["verification_uri"])
	var metadata map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.Call(http.MethodGet, s.URL("site", "/.well-known/oauth-authorization-server"), "").Body), &metadata))
	for member, want := range map[string]string{
		"issuer": "", "device_authorization_endpoint": "/oauth/device_authorization", "token_endpoint": "/oauth/token", "revocation_endpoint": "/oauth/revoke",
	} {
		assert.Equal(t, "https://ai.example.com/base"+want, metadata[member], member)
	}
}
