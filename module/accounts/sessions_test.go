package accounts

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const selfCall = "GET /api/user/self"

func TestCredentialsOfSessions(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	again := s.token("alice")
	key, err := s.createKey(t.Context(), nil, &aigateway.StoredKey{UserID: 1, Name: "k"})
	require.NoError(t, err)
	const (
		noLogin        = "log in first"
		noSession      = "the session has ended: log in again"
		foreignSite    = "the request comes from another site"
		twoCredentials = "Authorization and the cookie session must occur at most once each"
	)
	bearer := func(values ...string) asked { return asked{header: headers("Authorization", values...)} }
	for _, c := range []struct {
		name   string
		asked  asked
		status int
		says   string
	}{
		{"nothing", asked{}, 401, noLogin},
		{"token", asked{token: token}, 200, ""},
		{"token, scheme in small letters", bearer("bearer " + token), 200, ""},
		{"token, two spaces", bearer("Bearer  " + token), 200, ""},
		{"cookie", asked{cookie: token}, 200, ""},
		{"token wins over the cookie", asked{token: token, cookie: "sess_wrong"}, 200, ""},
		{"wrong token wins over the cookie", asked{token: "sess_wrong", cookie: token}, 401, noSession},
		{"another scheme leaves it to the cookie", asked{cookie: token, header: headers("Authorization", "Basic YTpi")}, 200, ""},
		{"another scheme alone", bearer("Basic YTpi"), 401, noLogin},
		{"token without a scheme", bearer(token), 401, noLogin},
		{"empty bearer", bearer("Bearer "), 401, noLogin},
		{"two lines", bearer("Bearer "+token, "Bearer "+again), 400, twoCredentials},
		{"two equal lines", bearer("Bearer "+token, "Bearer "+token), 400, twoCredentials},
		{"two tokens in a line", bearer("Bearer " + token + ", Bearer " + again), 401, noSession},
		{"two cookies", asked{header: headers("Cookie", "session="+token+"; session="+again)}, 400, twoCredentials},
		{"another cookie beside it", asked{header: headers("Cookie", "a=b; session="+token)}, 200, ""},
		{"New-Api-User of somebody else", asked{token: token, header: headers("New-Api-User", "2")}, 200, ""},
		{"API key", asked{token: string(key)}, 401, noSession},
		{"API key in its header", asked{header: headers("X-Api-Key", string(key))}, 401, noLogin},
		{"token with a byte more", asked{token: token + "A"}, 401, noSession},
		{"token with a byte less", asked{token: token[:len(token)-1]}, 401, noSession},
		{"very long token", asked{token: strings.Repeat("a", 100_000)}, 401, noSession},
		{"token in the query", asked{call: selfCall + "?session=" + token}, 401, noLogin},
		{"cookie from another site", asked{cookie: token, header: headers("Sec-Fetch-Site", "cross-site")}, 403, foreignSite},
		{"cookie from a sister site", asked{cookie: token, header: headers("Sec-Fetch-Site", "same-site")}, 403, foreignSite},
		{"cookie from this site", asked{cookie: token, header: headers("Sec-Fetch-Site", "same-origin")}, 200, ""},
		{"cookie of an address typed in", asked{cookie: token, header: headers("Sec-Fetch-Site", "none")}, 200, ""},
		{"token from another site", asked{token: token, header: headers("Sec-Fetch-Site", "cross-site")}, 200, ""},
	} {
		if c.asked.call == "" {
			c.asked.call = selfCall
		}
		answer := s.ask(c.asked)
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
	token := newToken()
	require.NoError(t, s.store.CreateSession(t.Context(), &aigateway.Session{
		UserID: 1, Digest: digest(string(token)), Expires: time.Now().Add(-time.Second),
	}, maxSessions, func(*aigateway.User) error { return nil }))
	answer := s.ask(asked{call: selfCall, token: string(token)})
	assert.Equal(t, http.StatusUnauthorized, answer.status)
	assert.Equal(t, failure("the session has ended: log in again"), answer.body)
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	s := loginSite(t, nil)
	first, second, third := s.token("alice"), s.token("alice"), s.token("alice")
	s.user("dave", aigateway.RoleUser)
	dave := s.token("dave")

	answer := s.ask(asked{call: "GET /api/user/sessions", token: second})
	assert.Contains(t, answer.body, `{"success":true,"message":"","data":[{"id":3,`)
	assert.Contains(t, answer.body, `"current":false},{"id":2,`)
	assert.Contains(t, answer.body, `"current":true},{"id":1,`)

	works := func(token string) bool { return s.ask(asked{call: selfCall, token: token}).status == http.StatusOK }
	assert.Equal(t, http.StatusNotFound, s.ask(asked{call: "DELETE /api/user/sessions/1", token: dave}).status, "of somebody else")
	assert.Equal(t, http.StatusOK, s.ask(asked{call: "DELETE /api/user/sessions/1", token: second}).status)
	assert.False(t, works(first))
	assert.Equal(t, http.StatusOK, s.ask(asked{call: "DELETE /api/user/sessions", token: second}).status)
	assert.False(t, works(third))
	assert.True(t, works(second))
	assert.True(t, works(dave))
}

func TestLogoutEndsTheSessionAndTakesTheCookieBack(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		s := loginSite(t, nil)
		token := s.token("alice")
		for range 2 { // who has logged out already has what they ask for
			answer := s.ask(asked{call: method + " /api/user/logout", cookie: token})
			assert.Equal(t, http.StatusOK, answer.status, method)
			assert.Equal(t, `{"success":true,"message":"","data":null}`, answer.body)
			assert.Equal(t, "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", answer.header.Get("Set-Cookie"))
		}
		assert.Equal(t, http.StatusUnauthorized, s.ask(asked{call: selfCall, token: token}).status)
	}
}

// Ensures that a picture on another page cannot log people out: the GET that
// clients send would otherwise do.
func TestLogoutByAnotherSiteIsRefused(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	for _, site := range []string{"cross-site", "same-site"} {
		answer := s.ask(asked{call: "GET /api/user/logout", cookie: token, header: headers("Sec-Fetch-Site", site)})
		assert.Equal(t, http.StatusForbidden, answer.status, site)
	}
	assert.Equal(t, http.StatusOK, s.ask(asked{call: selfCall, cookie: token}).status)
}

// A browser does not send the cookie along from another site. The answer to who
// is not logged in took it back nevertheless, and so logged people out.
func TestAnotherSiteCannotHaveTheCookieTakenBack(t *testing.T) {
	s := loginSite(t, nil)
	for _, method := range []string{"GET", "POST"} {
		answer := s.ask(asked{call: method + " /api/user/logout", header: headers("Sec-Fetch-Site", "cross-site")})
		assert.Equal(t, http.StatusForbidden, answer.status, method)
		assert.Empty(t, answer.header.Get("Set-Cookie"), method)
	}
}

// Another host of the same domain can plant a second cookie of the name. Every
// request was then refused, and so was the one that takes the cookie back.
func TestLogoutTakesBackACookieTooMany(t *testing.T) {
	s := loginSite(t, nil)
	answer := s.ask(asked{call: "GET /api/user/logout", header: headers("Cookie", "session="+s.token("alice")+"; session=planted")})
	assert.Equal(t, http.StatusBadRequest, answer.status, "no session has ended")
	assert.Contains(t, answer.header.Get("Set-Cookie"), "session=; Path=/; Max-Age=0")
}

func TestNewPasswordEndsOtherSessions(t *testing.T) {
	s := loginSite(t, nil)
	own, other := s.token("alice"), s.token("alice")
	change := asked{call: "PUT /api/user/self", body: bodies["PUT /api/user/self"], token: own}
	require.Equal(t, http.StatusOK, s.ask(change).status)
	assert.Equal(t, http.StatusOK, s.ask(asked{call: selfCall, token: own}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(asked{call: selfCall, token: other}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(asked{call: loginCall, body: credentials("alice", password)}).status)
	assert.Equal(t, http.StatusOK, s.ask(asked{call: loginCall, body: credentials("alice", "another horse")}).status)
	assert.Equal(t, http.StatusForbidden, s.ask(change).status, "the original password is another one now")
}

func TestPasswordSetByAnAdministratorEndsAllSessions(t *testing.T) {
	s := loginSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	token := s.token("alice")
	require.Equal(t, http.StatusOK, s.ask(asked{call: "PUT /api/user/", body: `{"id":1,"password":"another horse"}`, token: s.token("root")}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(asked{call: selfCall, token: token}).status)
}

// Forms send the fields that people left empty.
func TestSelfChangeWithEmptyPasswordKeepsIt(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	answer := s.ask(asked{call: "PUT /api/user/self", body: `{"display_name":"Älice A.","password":"","role":100,"id":2}`, token: token})
	assert.Equal(t, http.StatusOK, answer.status)
	assert.Equal(t, "Älice A.", answer.data(t)["display_name"])
	assert.EqualValues(t, aigateway.RoleUser, answer.data(t)["role"])
	s.token("alice")
}

func TestRegistration(t *testing.T) {
	s := newSite(t, nil)
	answer := s.ask(asked{call: "POST /api/user/register", body: credentials("alice", password)})
	assert.Equal(t, http.StatusForbidden, answer.status)
	assert.Equal(t, failure("registration is off: ask an administrator for an account"), answer.body)

	s = newSite(t, func(a *Accounts) { a.Registration = true })
	answer = s.ask(asked{call: "POST /api/user/register", body: `{"username":"Alice","password":"correct horse","role":100}`})
	assert.Equal(t, http.StatusOK, answer.status)
	assert.Equal(t, "alice", answer.data(t)["username"])
	assert.EqualValues(t, aigateway.RoleUser, answer.data(t)["role"], "whatever the body asks for")
	s.token("alice")
}
