package accounts

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Users change their own account where administrators change it, and nothing that gives them rights.
func TestUsersChangeTheirOwnAccountAlone(t *testing.T) {
	const original = "original_password is required to change the password"
	for _, c := range []struct {
		by, call, body string
		status         int
		says           string
	}{
		{"user", "PATCH /api/v1/users/USER", `{"display_name":"U."}`, 200, ""},
		{"user", "PATCH /api/v1/users/user", `{"role":"admin"}`, 403, greaterRole},
		{"user", "PATCH /api/v1/users/user", `{"disabled":false}`, 403, greaterRole},
		{"user", "PATCH /api/v1/users/user2", `{"display_name":"U."}`, 404, "there is no user with this name"},
		{"user", "POST /api/v1/users/user/password", `{"password":"another horse","original_password":"correct horse"}`, 200, ""},
		{"user", "POST /api/v1/users/user/password", `{"password":"another horse","original_password":"wrong horse"}`, 403, "original_password is wrong"},
		{"user", "POST /api/v1/users/user/password", `{"password":"another horse"}`, 400, original},
		{"user", "POST /api/v1/users/user/password", `{}`, 400, original},
		{"user", "DELETE /api/v1/users/user", ``, 403, greaterRole},
		{"admin", "PATCH /api/v1/users/admin", `{"display_name":"A."}`, 200, ""},
		{"admin", "PATCH /api/v1/users/admin", `{"role":"root"}`, 403, greaterRole},
		{"admin", "PATCH /api/v1/users/admin2", `{"display_name":"A."}`, 403, greaterRole},
		{"admin", "POST /api/v1/users/user/password", `{}`, 200, ""},
		{"admin", "POST /api/v1/users/admin2/password", `{}`, 403, greaterRole},
		{"admin", "POST /api/v1/users/admin/password", `{}`, 400, original},
		{"admin", "POST /api/v1/users", `{"username":"new","role":"admin"}`, 403, greaterRole},
		{"root", "PATCH /api/v1/users/root", `{"role":"admin"}`, 409, selfConflict},
		{"root", "PATCH /api/v1/users/root", `{"disabled":true}`, 409, selfConflict},
		{"root", "DELETE /api/v1/users/root", ``, 409, selfConflict},
		{"root", "POST /api/v1/users/root/password", `{"password":"another horse"}`, 400, original},
	} {
		s := hierarchy(t)
		answer := s.ask(testRequest{call: c.call, body: c.body, token: s.token(c.by)})
		assert.Equal(t, c.status, answer.status, "%v: %s", c, answer.body)
		if c.says != "" {
			assert.Equal(t, problem(c.status, c.says), answer.body, "%v", c)
		}
	}
}

// The two logins are one: the same session, the same throttles.
func TestBothLoginsBeginTheSameSession(t *testing.T) {
	s := throttledSite(t)
	begun := s.ask(testRequest{call: "POST /api/v1/session", body: credentials("alice", password)})
	require.Equal(t, http.StatusOK, begun.status, begun.body)
	token := begun.data(t)["token"].(string)
	assert.Contains(t, begun.header.Get("Set-Cookie"), "session="+token+";")
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/session", token: token}).body, `{"user":{"id":1,"username":"alice",`)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, cookie: token}).status)
	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE /api/v1/session", cookie: token}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, cookie: token}).status)
	for range 5 {
		s.ask(testRequest{call: "POST /api/v1/session", body: credentials("alice", "wrong horse")})
	}
	assert.Equal(t, http.StatusTooManyRequests, s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).status)
}

// The answer to a login once had nanoseconds, and the list of sessions the milliseconds of the store.
func TestAnswersToChangesHaveTheTimesOfLaterAnswers(t *testing.T) {
	s, _, alice := keySite(t)
	begun := s.ask(testRequest{call: "POST /api/v1/session", body: credentials("alice", password)}).data(t)["session"].(map[string]any)
	made := s.ask(testRequest{call: "POST /api/v1/keys", body: `{"name":"k","expires":"2099-12-31T00:00:00.123456789Z"}`, token: alice}).data(t)
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/users/alice/sessions", token: alice}).body, `"expires":"`+begun["expires"].(string)+`"`)
	assert.Equal(t, made["expires"], s.ask(testRequest{call: "GET /api/v1/keys/1", token: alice}).data(t)["expires"])
}

// A build can leave the paths of other products out. The login stays.
func TestABuildWithoutTheGuestServesTheAPIAndTheLogin(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	s.router = call.NewRouter(s.routes(), s.serve)
	for path, served := range map[string]bool{"/api/user/login": true, "/api/v1/keys": true, "/api/token/": false, "/api/token": false} {
		assert.Equal(t, served, s.Serves(testRequest{call: "GET " + path}.request(t.Context())), path)
	}
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "GET /api/v1/keys", token: s.token("root")}).status)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, testRequest{call: "GET /api/user/self"}.request(t.Context()))
	assert.Equal(t, failure(noPath), w.Body.String())
}
