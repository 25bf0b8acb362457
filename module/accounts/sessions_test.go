package accounts

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const selfCall = "GET /api/user/self"

func TestCredentialsOfSessions(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	again := s.token("alice")
	key := aigateway.NewAPIKey()
	require.NoError(t, s.people.Store.CreateKey(t.Context(), &aigateway.StoredKey{UserID: 1, Name: "k", Digest: call.Digest(string(key))}, 9))
	const (
		noLogin        = "log in first, at /api/user/login"
		noSession      = "the session has ended: log in again"
		foreignSite    = "the request comes from another site"
		twoCredentials = "Authorization and the cookie session must occur at most once each"
	)
	bearer := func(values ...string) testRequest { return testRequest{header: headers("Authorization", values...)} }
	for _, c := range []struct {
		name    string
		request testRequest
		status  int
		says    string
	}{
		{"nothing", testRequest{}, 401, noLogin},
		{"token", testRequest{token: token}, 200, ""},
		{"token, scheme in small letters", bearer("bearer " + token), 200, ""},
		{"token, two spaces", bearer("Bearer  " + token), 200, ""},
		{"cookie", testRequest{cookie: token}, 200, ""},
		{"token wins over the cookie", testRequest{token: token, cookie: "sess_wrong"}, 200, ""},
		{"wrong token wins over the cookie", testRequest{token: "sess_wrong", cookie: token}, 401, noSession},
		{"cookie counts beside another scheme", testRequest{cookie: token, header: headers("Authorization", "Basic YTpi")}, 200, ""},
		{"another scheme alone", bearer("Basic YTpi"), 401, noLogin},
		{"token without a scheme", bearer(token), 401, noLogin},
		{"empty bearer", bearer("Bearer "), 401, noLogin},
		{"two lines", bearer("Bearer "+token, "Bearer "+again), 400, twoCredentials},
		{"two equal lines", bearer("Bearer "+token, "Bearer "+token), 400, twoCredentials},
		{"two tokens in a line", bearer("Bearer " + token + ", Bearer " + again), 401, noSession},
		{"two cookies", testRequest{header: headers("Cookie", "session="+token+"; session="+again)}, 400, twoCredentials},
		{"another cookie beside it", testRequest{header: headers("Cookie", "a=b; session="+token)}, 200, ""},
		{"New-Api-User of somebody else", testRequest{token: token, header: headers("New-Api-User", "2")}, 200, ""},
		{"API key, which has no session that could end", testRequest{token: string(key)}, 401, noLogin},
		{"cookie of another program", testRequest{cookie: "abc"}, 401, noLogin},
		{"API key in its header", testRequest{header: headers("X-Api-Key", string(key))}, 401, noLogin},
		{"token with a byte more", testRequest{token: token + "A"}, 401, noSession},
		{"token with a byte less", testRequest{token: token[:len(token)-1]}, 401, noSession},
		{"very long token", testRequest{token: "sess_" + strings.Repeat("a", 100_000)}, 401, noSession},
		{"token in the query", testRequest{call: selfCall + "?session=" + token}, 401, noLogin},
		{"cookie from another site", testRequest{cookie: token, header: headers("Sec-Fetch-Site", "cross-site")}, 403, foreignSite},
		{"cookie from a sister site", testRequest{cookie: token, header: headers("Sec-Fetch-Site", "same-site")}, 403, foreignSite},
		{"cookie from this site", testRequest{cookie: token, header: headers("Sec-Fetch-Site", "same-origin")}, 200, ""},
		{"cookie of an address typed in", testRequest{cookie: token, header: headers("Sec-Fetch-Site", "none")}, 200, ""},
		{"token from another site", testRequest{token: token, header: headers("Sec-Fetch-Site", "cross-site")}, 200, ""},
	} {
		if c.request.call == "" {
			c.request.call = selfCall
		}
		answer := s.ask(c.request)
		assert.Equal(t, c.status, answer.status, "%s: %s", c.name, answer.body)
		if c.status == http.StatusOK {
			assert.Equal(t, "alice", answer.data(t)["username"], c.name)
			continue
		}
		assert.Equal(t, failure(c.says), answer.body, c.name)
	}
}

func TestSessionEndsWhenItExpires(t *testing.T) {
	s := loginSite(t, nil)
	token := call.NewToken(call.TokenPrefix)
	require.NoError(t, s.people.Store.CreateSession(t.Context(), &aigateway.Session{
		UserID: 1, Digest: call.Digest(string(token)), Expires: time.Now().Add(-time.Second),
	}, 9, func(*aigateway.User) error { return nil }))
	answer := s.ask(testRequest{call: selfCall, token: string(token)})
	assert.Equal(t, http.StatusUnauthorized, answer.status)
	assert.Equal(t, failure("the session has ended: log in again"), answer.body)
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	s := loginSite(t, nil)
	first, second, third := s.token("alice"), s.token("alice"), s.token("alice")
	s.user("dave", aigateway.RoleUser)
	dave := s.token("dave")

	answer := s.ask(testRequest{call: "GET /api/v1/users/alice/sessions", token: second})
	assert.Contains(t, answer.body, `{"items":[{"id":3,`)
	assert.Contains(t, answer.body, `"current":false},{"id":2,`)
	assert.Contains(t, answer.body, `"current":true},{"id":1,`)

	works := func(token string) bool {
		return s.ask(testRequest{call: selfCall, token: token}).status == http.StatusOK
	}
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "DELETE /api/v1/users/alice/sessions/1", token: dave}).status, "a session of another user")
	assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "DELETE /api/v1/users/dave/sessions/1", token: dave}).status, "a session of another user")
	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE /api/v1/users/alice/sessions/1", token: second}).status)
	assert.False(t, works(first))
	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE /api/v1/users/alice/sessions", token: second}).status)
	assert.False(t, works(third))
	assert.True(t, works(second))
	assert.True(t, works(dave))
}

func TestLogoutEndsTheSessionAndDeletesTheCookie(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		s := loginSite(t, nil)
		token := s.token("alice")
		for range 2 { // a second logout succeeds, too
			answer := s.ask(testRequest{call: method + " /api/user/logout", cookie: token})
			assert.Equal(t, http.StatusOK, answer.status, method)
			assert.Equal(t, `{"success":true,"message":"","data":null}`, answer.body)
			assert.Equal(t, "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", answer.header.Get("Set-Cookie"))
		}
		assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, token: token}).status)
	}
}

// Ensures that a picture on another site cannot log users out: clients log out with GET.
func TestLogoutByAnotherSiteIsRefused(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	for _, site := range []string{"cross-site", "same-site"} {
		answer := s.ask(testRequest{call: "GET /api/user/logout", cookie: token, header: headers("Sec-Fetch-Site", site)})
		assert.Equal(t, http.StatusForbidden, answer.status, site)
	}
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, cookie: token}).status)
}

// Browsers do not send the cookie with requests of other sites. The answer to such a
// request once deleted the cookie, and so logged users out.
func TestAnotherSiteCannotDeleteTheCookie(t *testing.T) {
	s := loginSite(t, nil)
	for _, method := range []string{"GET", "POST"} {
		answer := s.ask(testRequest{call: method + " /api/user/logout", header: headers("Sec-Fetch-Site", "cross-site")})
		assert.Equal(t, http.StatusForbidden, answer.status, method)
		assert.Empty(t, answer.header.Get("Set-Cookie"), method)
	}
}

// Another host of the same domain can set a second cookie with the name. Every request was
// then refused, the logout included.
func TestLogoutDeletesADuplicateCookie(t *testing.T) {
	s := loginSite(t, nil)
	answer := s.ask(testRequest{call: "GET /api/user/logout", header: headers("Cookie", "session="+s.token("alice")+"; session=sess_planted")})
	assert.Equal(t, http.StatusBadRequest, answer.status, "no session has ended")
	assert.Contains(t, answer.header.Get("Set-Cookie"), "session=; Path=/; Max-Age=0")
}

func TestNewPasswordEndsOtherSessions(t *testing.T) {
	s := loginSite(t, nil)
	own, other := s.token("alice"), s.token("alice")
	change := testRequest{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: own}
	require.Equal(t, http.StatusOK, s.ask(change).status)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, token: own}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, token: other}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).status)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: loginCall, body: credentials("alice", "another horse")}).status)
	assert.Equal(t, http.StatusForbidden, s.ask(change).status, "the original password has changed")
}

func TestPasswordSetByAnAdministratorEndsAllSessions(t *testing.T) {
	s := loginSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	token := s.token("alice")
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: "PUT /api/user/", body: `{"id":1,"password":"another horse"}`, token: s.token("root")}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, token: token}).status)
}

// Clients send empty fields for unchanged values.
func TestSelfChangeWithEmptyPasswordKeepsIt(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	answer := s.ask(testRequest{call: "PUT /api/user/self", body: `{"display_name":"Älice A.","password":"","role":100,"id":2}`, token: token})
	assert.Equal(t, http.StatusOK, answer.status)
	assert.Equal(t, "Älice A.", answer.data(t)["display_name"])
	assert.EqualValues(t, aigateway.RoleUser, answer.data(t)["role"])
	s.token("alice")
}

// The usage of a key of the configuration counts for its owner by name. Anyone could register
// that name, read the usage, and spend the budget of the owner.
func TestNamesOfKeyOwnersCannotBeRegistered(t *testing.T) {
	s := newSite(t, func(a *Accounts) { a.Registration = true })
	s.ReserveNames(func(username string) bool { return username == "alice" })
	answer := s.ask(testRequest{call: "POST /api/user/register", body: credentials("Alice", password)})
	assert.Equal(t, http.StatusConflict, answer.status)
	assert.Equal(t, failure("the username is taken"), answer.body)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/user/register", body: credentials("bob", password)}).status)

	s.user("root", aigateway.RoleRoot)
	created := s.ask(testRequest{call: "POST /api/user/", body: credentials("alice", password), token: s.token("root")})
	assert.Equal(t, http.StatusOK, created.status, "an administrator gives an owner the account that shows the usage")
}

func TestRegistration(t *testing.T) {
	s := newSite(t, nil)
	answer := s.ask(testRequest{call: "POST /api/user/register", body: credentials("alice", password)})
	assert.Equal(t, http.StatusForbidden, answer.status)
	assert.Equal(t, failure("registration is off: ask an administrator for an account"), answer.body)

	s = newSite(t, func(a *Accounts) { a.Registration = true })
	answer = s.ask(testRequest{call: "POST /api/user/register", body: `{"username":"Alice","password":"correct horse","role":100}`})
	assert.Equal(t, http.StatusOK, answer.status)
	assert.Equal(t, "alice", answer.data(t)["username"])
	assert.EqualValues(t, aigateway.RoleUser, answer.data(t)["role"], "the role in the body is ignored")
	s.token("alice")
}
