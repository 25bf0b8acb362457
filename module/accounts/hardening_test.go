package accounts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Paths of accounts without a route once went to the site, whose empty answer with
// status 200 looked as if DELETE /api/token/laptop had revoked a key.
func TestPathsOfAccountsNeverReachTheSite(t *testing.T) {
	s := newSite(t, nil)
	for path, want := range map[string]bool{
		"/api/user/login": true, "/api/user/self": true, "/api/user": true, "/api/user/": true, "/api/token": true,
		"/api/token/": true, "/api/token/7": true, "/api/user/7": true, "/api/v1": true, "/api/v1/users": true, "/api/v1/nothing": true, "/api/openapi.json": true,
		"/api/user/manage": true, "/api/token/search?keyword=a%2Fb": true,

		// With a base URL that ended in a slash, every login once got an empty answer
		// with status 200.
		"//api/user/login": true, "/./api/user/login": true, "/api//user/login": true, "/api/./user/login": true,
		"/api/x/../user/login": true, "/api/user/../tokens": true, "/api/openapi.json/": true,

		"/api": false, "/api/": false, "/": false, "/API/user/login": false, "/api/tokens": false, "/api/users/1": false,
		"/api/userx/../tokens": false, "/api/v2/users": false, "/api/" + "keys": false, "/api/" + "usage": false, "/v1/messages": false,
	} {
		for _, method := range []string{"GET", "POST", "BREW"} {
			r := testRequest{call: method + " " + path}.request(t.Context())
			assert.Equal(t, want, s.Serves(r), "%s %s", method, path)
		}
	}
}

// Ensures that a path is served only in its usual notation, so that another notation
// cannot bypass a guard in front of the gateway.
func TestPathsWithoutARouteAreNotFound(t *testing.T) {
	s, root, _ := keySite(t)
	for path, meant := range map[string]string{
		"/api/user/login/": "/api/user/login", "/api/user/Login": "/api/user/login", "//api/user/login": "/api/user/login",
		"/api/user%2Flogin": "/api/user/login", "/api/user/%6cogin": "/api/user/login", "/api/openapi%2ejson": "/api/openapi.json",
		"/api/user/0": "", "/api/user/-1": "", "/api/user/+1": "", "/api/user/007": "", "/api/user/1/": "/api/user/1", "/api/user/disable": "",
		"/api/user/1.0": "", "/api/user/99999999999999999999": "", "/api/user/root": "", "/api/token/1/key": "", "/api/token/laptop": "",
		"/api/token/my%20key": "", "/api/token/12/": "/api/token/12", "/api/token//": "/api/token", "/api/user/../token/1": "/api/token/1",
		"/api/v1": "", "/api/v1/": "", "/api/v1/nothing": "", "/api/v1/keys/": "/api/v1/keys", "/api/v1/Keys": "/api/v1/keys", "/api/v1/keys/x": "", "/api/v1/keys/01": "",
		"/api/v1/%6beys": "/api/v1/keys", "/api/v1/users/root/sessions/x": "", "/api/v1/users/a%2Fb": "", "/api/v1/users/../keys": "/api/v1/keys",
		"//api/v1/keys": "/api/v1/keys", "/api/user/../v1/keys": "/api/v1/keys",
	} {
		want := noPath
		if meant != "" {
			want = "there is no such path: did you mean " + meant + "?"
		}
		for _, method := range []string{"GET", "POST", "DELETE", "BREW"} {
			r := testRequest{call: method + " " + path, body: "{}", token: root}.request(t.Context())
			require.True(t, s.Serves(r), path)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			assert.Equal(t, http.StatusNotFound, w.Code, "%s %s", method, path)
			assert.Equal(t, refusedAs(path, http.StatusNotFound, want), w.Body.String(), "%s %s", method, path)
		}
	}
}

func TestOtherMethodsAreRefusedWithTheAllowedOnes(t *testing.T) {
	s, root, _ := keySite(t)
	for path, allowed := range map[string]string{
		"/api/user/login": "POST", "/api/user/logout": "GET, HEAD, POST", "/api/user/self": "GET, HEAD, PUT",
		"/api/user/": "GET, HEAD, POST, PUT", "/api/user/7": "DELETE, GET, HEAD",
		"/api/v1/session": "DELETE, GET, HEAD, POST", "/api/v1/users/root/sessions/7": "DELETE", "/api/v1/keys/configured": "GET, HEAD",
		"/api/v1/teams/a%40b/members/c%2Bd": "DELETE, PUT", // names may be encoded
	} {
		answer := s.ask(testRequest{call: "PATCH " + path, body: "{}", token: root})
		assert.Equal(t, http.StatusMethodNotAllowed, answer.status, path)
		assert.Equal(t, allowed, answer.header.Get("Allow"), path)
		assert.Equal(t, refusedAs(path, http.StatusMethodNotAllowed, "this path accepts "+allowed), answer.body)
	}
}

// Ensures that no log at level DEBUG, error, store or answer contains a secret, except
// the one answer that returns it to its owner.
func TestSecretsAreOnlyInTheAnswersThatHandThemOut(t *testing.T) {
	canaries := gatewaytest.NewCanaries()
	secret := canaries.Secret
	s := newSite(t, func(a *Accounts) { a.ThrottleOff, a.Registration = false, true })
	login := func(name, password string) string { return credentials(name, secret(password)) }
	sinks := map[string]string{}
	ask := func(call, body, token string) {
		answer := s.ask(testRequest{call: call, body: body, token: token})
		sinks[call+" "+answer.body] = answer.body
	}
	admin := func(call, body string) {
		answer := s.admin(call, body)
		sinks[call+" "+answer.body] = answer.body
	}
	admin("POST /api/v1/users", fmt.Sprintf(`{"username":"root","role":"root","password":%q}`, secret("root")))
	ask("POST /api/user/register", login("alice", "alice"), "")
	ask(loginCall, login("alice", "wrong"), "")
	ask(loginCall, login(secret("typed into the wrong field"), "alice"), "")
	ask(loginCall, `{"username":"alice","password":["`+secret("in an array")+`"]}`, "")
	ask(loginCall, `{"username":"alice","password":"`+secret("broken off"), "")
	ask(loginCall, `{"username":"alice","`+secret("name")+`":1,"`+secret("name")+`":1}`, "")
	token := s.ask(testRequest{call: loginCall, body: login("alice", "alice")}).data(t)["access_token"].(string)
	key := s.ask(testRequest{call: newKeyCall, body: `{"name":"k"}`, token: token}).data(t)["key"].(string)
	ask("PUT /api/user/self", fmt.Sprintf(`{"password":%q,"original_password":%q}`, secret("new"), secret("guess")), token)
	ask("PUT /api/user/self", fmt.Sprintf(`{"password":%q,"original_password":%q}`, secret("new"), secret("alice")), token)
	admin("POST /api/v1/users/alice/password", fmt.Sprintf(`{"password":%q}`, secret("set")))
	ask(newKeyCall, `{"name":"k","model_limits":"`+secret("limits")+` x","allow_ips":"`+secret("addresses")+`"}`, token)
	for _, call := range []string{"GET /api/user/self", "GET /api/v1/session", "GET /api/v1/users/alice/sessions", "GET /api/v1/keys", "GET /api/token/", "GET /api/token/1", "GET /api/user/logout"} {
		ask(call, "", token)
	}
	for _, call := range []string{"GET /api/v1/users", "GET /api/v1/keys", "DELETE /api/v1/keys/1"} {
		admin(call, "")
	}
	store := s.people.Store
	s.people.Store = broken{store}
	ask(loginCall, login("alice", "during an outage"), "")
	ask("GET /api/user/self", "", token)

	for name, sink := range sinks {
		canaries.AssertAbsent(t, name, sink)
		assert.NotContains(t, sink, token, name)
		assert.NotContains(t, sink, key, name)
		assert.NotContains(t, sink, "argon2", name)
		assert.NotContains(t, sink, "/secret/path", name)
	}
	log := s.logText() + s.auditText(store)
	require.Contains(t, log, "login.ok")
	canaries.AssertAbsent(t, "log", log)
	for _, part := range []string{token, key, "argon2", "sess_"} {
		assert.NotContains(t, log, part)
	}
}

// logText returns all log entries as one text.
func (s *site) logText() (text string) {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"})
	for _, entry := range s.logs.All() {
		line, err := encoder.EncodeEntry(entry.Entry, entry.Context)
		require.NoError(s.t, err)
		text += line.String()
	}
	return text
}

func TestOutageIsA503WithoutAnyDetail(t *testing.T) {
	s := loginSite(t, func(a *Accounts) { a.ThrottleOff = false })
	token := s.token("alice")
	store := s.people.Store
	s.people.Store = broken{store}
	for range 10 { // logins during an outage do not count as guesses
		answer := s.ask(testRequest{call: loginCall, body: credentials("alice", password)})
		assert.Equal(t, http.StatusServiceUnavailable, answer.status)
		assert.Equal(t, failure("accounts are not available at the moment"), answer.body)
	}
	assert.Equal(t, http.StatusServiceUnavailable, s.ask(testRequest{call: "GET /api/user/logout", cookie: token}).status, "the session has not ended")
	s.people.Store = store
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, token: token}).status)
	s.user("bob", aigateway.RoleUser)
}

// The console is served without a login: its files contain nothing of the gateway.
func TestConsoleIsServedUnlessItIsOff(t *testing.T) {
	for _, off := range []bool{false, true} {
		s := newSite(t, func(a *Accounts) { a.ConsoleOff = off })
		r := testRequest{call: "GET /console/"}.request(t.Context())
		assert.Equal(t, !off, s.Serves(r))
		if off {
			continue
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Contains(t, w.Body.String(), "<!doctype html>")
	}
}
