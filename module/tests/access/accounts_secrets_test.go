package access_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// spread uses secrets of accounts in all requests that fail or succeed. It returns the
// secrets that the gateway generated.
func spread(t *testing.T, s *site.Site, c *gatewaytest.Canaries) (generated []string, answers string) {
	t.Helper()
	note := func(r site.Reply) { answers += fmt.Sprintln(r.Status, r.Header, r.Body) }
	create := func(name, password string) site.Reply {
		return askAdmin(s, http.MethodPost, "/api/v1/users", fmt.Sprintf(`{"username":%q,"password":%q}`, name, password))
	}
	note(create("alice", c.Secret("password")))
	note(create("alice", c.Secret("password of a twin")))
	note(create("bad name!", c.Secret("password of nobody")))
	note(askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"bob","password":"`+c.Secret("password of broken JSON")))
	note(askAdmin(s, http.MethodPost, "/api/v1/keys", `{"user":"`+c.Secret("unknown name")+`","name":"x"}`))
	note(logIn(s, "site", "alice", c.Secret("wrong password")))
	note(logIn(s, "site", c.Secret("password at the wrong place"), "x"))
	note(s.Call(http.MethodPost, s.URL("site", "/api/user/login"), `{"username":7,"password":["`+c.Secret("odd password")+`"]}`))

	login := logIn(s, "site", "alice", c.Secret("password"))
	require.Equal(t, http.StatusOK, login.Status, login.Body)
	alice := loggedIn{s, "site", dataField(t, login, "access_token")}
	_, key := alice.newKey()
	note(alice.ask(http.MethodGet, "/api/token/", ""))
	note(alice.ask(http.MethodGet, "/api/user/self", ""))
	note(alice.ask(http.MethodGet, "/api/v1/users/alice/sessions", ""))
	note(alice.ask(http.MethodPut, "/api/user/self", `{"original_password":"`+c.Secret("wrong original")+`","password":"`+c.Secret("new password")+`"}`))
	note(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+key))
	note(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+alice.token))
	note(askAdmin(s, http.MethodGet, "/api/v1/keys", ""))
	note(askAdmin(s, http.MethodGet, "/api/v1/users", ""))
	other := loggedIn{s, "site", c.Secret("session of nobody")}
	note(other.ask(http.MethodGet, "/api/user/self", ""))
	return []string{alice.token, key}, answers
}

// No log, admin view or file of Caddy contains a password, token or key of a user, and no
// answer except the one that returns it to its owner.
func TestNoSecretOfAccountsLeaves(t *testing.T) {
	canaries := gatewaytest.NewCanaries()
	t.Setenv("DSN", "postgres://gateway:"+canaries.Secret("dsn")+"@"+gatewaytest.RefusedAddress(t)+"/gateway")
	s := site.StartCaddyfile(t, site.Block("log", site.DemoProvider)+
		"http://127.0.0.1:PORT(unreachable) {\nlog\nai_gateway {\n"+site.DemoProvider+"\nkey other {env.CLIENT_KEY}\nstore postgres {env.DSN}\n}\n}\n")
	generated, answers := spread(t, s, canaries)
	down := logIn(s, "unreachable", "alice", canaries.Secret("password"))
	assert.Equal(t, http.StatusServiceUnavailable, down.Status)
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "/api/v1/users/alice/sessions"))

	sinks := map[string]string{"the log": s.Logs.String(), "answers": answers + down.Body}
	for _, view := range []string{"/config/", "/metrics", "/debug/vars", "/api/v1/users/nobody"} {
		response := s.Get(s.AdminURL(view))
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
		sinks[view] = string(text)
	}
	saved, err := os.ReadFile(s.Autosave())
	require.NoError(t, err)
	require.Contains(t, string(saved), "{env.DSN}")
	sinks["autosave"] = string(saved)
	for _, file := range []string{databaseOf(s), databaseOf(s) + "-wal"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sinks[file] = string(data)
	}
	for name, text := range sinks {
		canaries.AssertAbsent(t, name, text)
		for _, secret := range generated {
			assert.NotContains(t, text, secret, name)
		}
	}
}
