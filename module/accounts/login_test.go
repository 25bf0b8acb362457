package accounts

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const loginCall = "POST /api/user/login"

// The messages of the login.
const (
	wrongBody      = `{"success":false,"message":"the username or the password is wrong, or the account is disabled","data":null}`
	missingBody    = `{"success":false,"message":"username and password are required","data":null}`
	compressedBody = `{"success":false,"message":"the request body must not be compressed: send no Content-Encoding","data":null}`
	notJSONBody    = `{"success":false,"message":"the request body must be plain JSON: Content-Type: application/json","data":null}`
	noObjectBody   = `{"success":false,"message":"the request body must be a JSON object","data":null}`
	methodBody     = `{"success":false,"message":"this path accepts POST","data":null}`
	foreignBody    = `{"success":false,"message":"the request comes from another site","data":null}`
	successBody    = `{"success":true,"message":"","data":{"access_token":"TOKEN","token_type":"Bearer","access_expires_at":TIME,` +
		`"session":{"id":N,"created_at":TIME,"expires_at":TIME,"address":"192.0.2.1","agent":"","current":true},` +
		`"user":{"id":1,"username":"alice","display_name":"alice","role":1,"status":1,"group":"default","created_at":TIME,"last_login_at":WHEN},` +
		`"id":1,"username":"alice","display_name":"alice","role":1,"status":1,"group":"default","created_at":TIME,"last_login_at":WHEN}}`
)

func failure(message string) string {
	return `{"success":false,"message":"` + message + `","data":null}`
}

// normalized replaces the parts of the answer to a login that differ in each run.
func normalized(body string) string {
	for _, r := range []struct{ pattern, by string }{
		{`sess_[A-Za-z0-9_-]{43}`, "TOKEN"},
		{`"last_login_at":\d+`, `"last_login_at":WHEN`},
		{`:\d{10}\b`, ":TIME"},
		{`"session":{"id":\d+`, `"session":{"id":N`},
	} {
		body = regexp.MustCompile(r.pattern).ReplaceAllString(body, r.by)
	}
	return body
}

// headers returns one header.
func headers(name string, values ...string) http.Header { return http.Header{name: values} }

var loginCases = []struct {
	name    string
	request testRequest
	status  int
	body    string
}{
	{"right", testRequest{body: credentials("alice", password)}, 200, successBody},
	{"right, in capitals", testRequest{body: credentials("ALICE", password)}, 200, successBody},
	{"with unknown members", testRequest{body: `{"username":"alice","x":[{"y":null}],"password":"correct horse","turnstile":1}`}, 200, successBody},
	{"with escapes", testRequest{body: `{"user\u006eame":"\u0061lice","password":"correct\u0020horse"}`}, 200, successBody},
	{"with a byte order mark and white space", testRequest{body: "\ufeff\n\t " + credentials("alice", password) + " \r\n"}, 200, successBody},
	{"with a query", testRequest{call: loginCall + "?turnstile=", body: credentials("alice", password)}, 200, successBody},
	{"with a charset", testRequest{body: credentials("alice", password), header: headers("Content-Type", "application/json; charset=utf-8")}, 200, successBody},
	{"with a content type in capitals", testRequest{body: credentials("alice", password), header: headers("Content-Type", "Application/JSON")}, 200, successBody},
	// Such a request was once accepted below /v1/, but refused here with 415.
	{"without a content type", testRequest{body: credentials("alice", password), header: headers("Content-Type")}, 200, successBody},
	{"with an unknown token", testRequest{body: credentials("alice", password), token: "sess_old"}, 200, successBody},
	{"with two credentials, which a login ignores", testRequest{body: credentials("alice", password), header: headers("Authorization", "a", "b")}, 200, successBody},
	{"with New-Api-User", testRequest{body: credentials("alice", password), header: headers("New-Api-User", "7")}, 200, successBody},
	{"from the same origin", testRequest{body: credentials("alice", password), header: headers("Sec-Fetch-Site", "same-origin")}, 200, successBody},

	{"empty object", testRequest{body: `{}`}, 400, missingBody},
	{"nulls", testRequest{body: `{"username":null,"password":null}`}, 400, missingBody},
	{"empty texts", testRequest{body: credentials("", "")}, 400, missingBody},
	{"names in other letter case", testRequest{body: `{"Username":"alice","PASSWORD":"correct horse"}`}, 400, missingBody},
	{"no password", testRequest{body: `{"username":"alice"}`}, 400, failure("password is required")},
	{"no username", testRequest{body: `{"password":"correct horse"}`}, 400, failure("username is required")},
	{"username is a number", testRequest{body: `{"username":1,"password":"correct horse"}`}, 400, failure("username must be a string")},
	{"password is an array", testRequest{body: `{"username":"alice","password":["correct horse"]}`}, 400, failure("password must be a string")},
	{"password is an object", testRequest{body: `{"username":"alice","password":{"$ne":""}}`}, 400, failure("password must be a string")},
	{"password too long", testRequest{body: credentials("alice", strings.Repeat("x", 1025))}, 400, failure("password must be at most 1024 bytes")},
	{"member twice", testRequest{body: `{"username":"alice","password":"a","password":"correct horse"}`}, 400, failure("the request body contains a member twice, the second time at byte 35")},
	{"member twice in other letter case", testRequest{body: `{"username":"alice","password":"a","Password":"b"}`}, 400, failure("the request body contains a member twice, the second time at byte 35")},
	{"array", testRequest{body: `[]`}, 400, noObjectBody},
	{"string", testRequest{body: `"alice"`}, 400, noObjectBody},
	{"null", testRequest{body: `null`}, 400, noObjectBody},
	{"number", testRequest{body: `17`}, 400, noObjectBody},
	{"no JSON", testRequest{body: `username=alice`}, 400, failure("the request body is not valid JSON at byte 0")},
	{"single quotes", testRequest{body: `{'username':'alice'}`}, 400, failure("the request body is not valid JSON at byte 1")},
	{"empty", testRequest{header: headers("Content-Type", "application/json")}, 400, failure("the request body is not valid JSON at byte 0")},
	{"broken off", testRequest{body: `{"username":"alice","password":"corr`}, 400, failure("the request body is not valid JSON at byte 36")},
	{"bytes after the body", testRequest{body: credentials("alice", password) + `{}`}, 400, failure("the request body is not valid JSON at byte 47")},
	{"bad UTF-8", testRequest{body: "{\"username\":\"al\xffice\",\"password\":\"correct horse\"}"}, 400, failure("the request body is not valid JSON at byte 15")},
	{"two byte order marks", testRequest{body: "\ufeff\ufeff" + credentials("alice", password)}, 400, failure("the request body is not valid JSON at byte 3")},
	{"half of a surrogate pair in the password", testRequest{body: `{"username":"alice","password":"\ud800 horse"}`}, 400, failure("password must be a string without U+FFFD or half of a surrogate pair")},
	{"the other half", testRequest{body: `{"username":"alice","password":"\udc00 horse"}`}, 400, failure("password must be a string without U+FFFD or half of a surrogate pair")},
	{"a replacement character", testRequest{body: `{"username":"al\ufffdce","password":"correct horse"}`}, 400, failure("username must be a string without U+FFFD or half of a surrogate pair")},
	{"a whole surrogate pair", testRequest{body: `{"username":"alice","password":"\ud83d\ude00 horse"}`}, 401, wrongBody},
	{"control character", testRequest{body: "{\"username\":\"al\x00ice\",\"password\":\"correct horse\"}"}, 400, failure("the request body is not valid JSON at byte 15")},
	{"nested deeply", testRequest{body: `{"x":` + strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + `}`}, 400, failure("the request body is nested too deeply at byte 204")},

	{"wrong password", testRequest{body: credentials("alice", "wrong horse")}, 401, wrongBody},
	{"password in other letter case", testRequest{body: credentials("alice", "Correct Horse")}, 401, wrongBody},
	{"password with a space", testRequest{body: credentials("alice", password+" ")}, 401, wrongBody},
	{"longest password", testRequest{body: credentials("alice", strings.Repeat("x", 1024))}, 401, wrongBody},
	{"shortest password", testRequest{body: credentials("alice", "x")}, 401, wrongBody},
	{"unknown user", testRequest{body: credentials("mallory", password)}, 401, wrongBody},
	{"disabled user", testRequest{body: credentials("carol", password)}, 401, wrongBody},
	{"name that no user can have", testRequest{body: credentials("alice'--", password)}, 401, wrongBody},
	{"name with a wildcard", testRequest{body: credentials("alic%", password)}, 401, wrongBody},
	{"name with a space", testRequest{body: credentials(" alice", password)}, 401, wrongBody},
	{"very long name", testRequest{body: credentials(strings.Repeat("a", 10_000), password)}, 401, wrongBody},
	{"display name", testRequest{body: credentials("Carol C.", password)}, 401, wrongBody},
	{"stored hash for a password", testRequest{body: credentials("alice", string(quick.FakeHash()))}, 401, wrongBody},

	{"another site", testRequest{body: credentials("alice", password), header: headers("Sec-Fetch-Site", "cross-site")}, 403, foreignBody},
	{"a sister site", testRequest{body: credentials("alice", password), header: headers("Sec-Fetch-Site", "same-site")}, 403, foreignBody},
	{"another origin", testRequest{body: credentials("alice", password), header: headers("Origin", "https://evil.example")}, 403, foreignBody},

	{"GET", testRequest{call: "GET /api/user/login"}, 405, methodBody},
	{"HEAD", testRequest{call: "HEAD /api/user/login"}, 405, methodBody},
	{"PUT", testRequest{call: "PUT /api/user/login", body: credentials("alice", password)}, 405, methodBody},
	{"DELETE", testRequest{call: "DELETE /api/user/login"}, 405, methodBody},
	{"OPTIONS", testRequest{call: "OPTIONS /api/user/login"}, 405, methodBody},

	{"too large", testRequest{body: credentials("alice", strings.Repeat("x", largestBody))}, 413, failure("the request body must be at most 16384 bytes")},
	{"form", testRequest{body: "username=alice&password=x", header: headers("Content-Type", "application/x-www-form-urlencoded")}, 415, notJSONBody},
	{"text", testRequest{body: credentials("alice", password), header: headers("Content-Type", "text/plain")}, 415, notJSONBody},
	{"another charset", testRequest{body: credentials("alice", password), header: headers("Content-Type", "application/json; charset=latin1")}, 415, notJSONBody},
	{"compressed", testRequest{body: "\x1f\x8b", header: http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}}, 415, compressedBody}, // the answer asked for the content type that the request had
	{"not compressed, by name", testRequest{body: credentials("alice", "wrong horse"), header: http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"Identity"}}}, 401, wrongBody},
}

func loginSite(t *testing.T, configure func(*Accounts)) *site {
	s := newSite(t, configure)
	s.user("alice", aigateway.RoleUser)
	carol := s.user("carol", aigateway.RoleUser)
	_, err := s.people.Change(s.machineCall(), carol.ID, people.UserChange{Disabled: new(true), DisplayName: new("Carol C.")})
	require.NoError(t, err)
	return s
}

func TestLoginAnswersEachCase(t *testing.T) {
	s := loginSite(t, nil)
	require.GreaterOrEqual(t, len(loginCases), 40)
	for _, c := range loginCases {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			if c.request.call == "" {
				c.request.call = loginCall
			}
			answer := s.ask(c.request)
			assert.Equal(t, c.status, answer.status)
			assert.Equal(t, c.body, normalized(answer.body))
			assert.Equal(t, c.status == http.StatusOK, answer.header.Get("Set-Cookie") != "", "a cookie")
			assert.Equal(t, c.status == http.StatusUnauthorized, answer.header.Get("WWW-Authenticate") == `Bearer realm="ai_gateway"`)
			if c.status == http.StatusMethodNotAllowed {
				assert.Equal(t, "POST", answer.header.Get("Allow"))
			}
		})
	}
}

// An invalid body once had status 400 with compat, too.
func TestLoginInCompatModeFailsWith200(t *testing.T) {
	s := loginSite(t, func(a *Accounts) { a.LoginStatus = compat })
	for body, want := range map[string]string{
		credentials("alice", "wrong horse"): wrongBody,
		credentials("mallory", password):    wrongBody,
		credentials("carol", password):      wrongBody,
		`{}`:                                missingBody,
		`{`:                                 failure("the request body is not valid JSON at byte 1"),
		`[]`:                                noObjectBody,
		"":                                  failure("the request body is not valid JSON at byte 0"),
		`{"username":1,"password":"x"}`:     failure("username must be a string"),
	} {
		answer := s.ask(testRequest{call: loginCall, body: body})
		assert.Equal(t, http.StatusOK, answer.status, body)
		assert.Equal(t, want, answer.body)
	}
	assert.Equal(t, http.StatusUnsupportedMediaType, s.ask(testRequest{call: loginCall, body: "{}", header: headers("Content-Type", "text/plain")}).status)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: "GET /api/user/self"}).status, "login_status has no effect on other paths")
}

func TestLoginCookieIsForBrowsersOfThisSiteAlone(t *testing.T) {
	s := loginSite(t, func(a *Accounts) { a.Session = caddy.Duration(time.Hour) })
	trusted := map[string]any{caddyhttp.TrustedProxyVarKey: true, caddyhttp.ClientIPVarKey: "198.51.100.7"}
	stranger := map[string]any{caddyhttp.TrustedProxyVarKey: false, caddyhttp.ClientIPVarKey: "198.51.100.7"}
	https := http.Header{"X-Forwarded-Proto": {"https"}}
	for name, c := range map[string]struct {
		request testRequest
		secure  bool
	}{
		"plain":                     {testRequest{}, false},
		"TLS":                       {testRequest{call: "POST https://example.com/api/user/login"}, true},
		"TLS at a trusted proxy":    {testRequest{vars: trusted, header: https}, true},
		"plain at a trusted proxy":  {testRequest{vars: trusted}, false},
		"TLS at an untrusted proxy": {testRequest{vars: stranger, header: https}, false},
	} {
		c.request.body = credentials("alice", password)
		if c.request.call == "" {
			c.request.call = loginCall
		}
		answer := s.ask(c.request)
		cookies := (&http.Response{Header: answer.header}).Cookies()
		require.Len(t, cookies, 1, name)
		cookie := cookies[0]
		assert.Equal(t, answer.data(t)["access_token"], cookie.Value, name)
		assert.Equal(t, []any{"session", "/", 3600, true, http.SameSiteStrictMode, c.secure, ""},
			[]any{cookie.Name, cookie.Path, cookie.MaxAge, cookie.HttpOnly, cookie.SameSite, cookie.Secure, cookie.Domain}, name)
	}
}

// "\ud800 horse" and "\udbff horse" were once the same password.
func TestTextsWithReplacementCharactersAreNotPasswords(t *testing.T) {
	s := loginSite(t, nil)
	token := s.token("alice")
	for _, new := range []string{`\ud800 horse`, `\udbff horse`, `\ufffd horse`, "\ufffd horse"} {
		answer := s.ask(testRequest{call: "PUT /api/user/self", body: `{"password":"` + new + `","original_password":"` + password + `"}`, token: token})
		assert.Equal(t, http.StatusBadRequest, answer.status)
		assert.Equal(t, failure("password must be a string without U+FFFD or half of a surrogate pair"), answer.body)
	}
	s.token("alice")
}

// While a password was changed, a login with the old password once created a session
// after the change had ended all sessions. If the user was deleted during a login, the
// status was 404.
func TestUserChangedDuringALoginGetsNoSession(t *testing.T) {
	changed := func(s *site, change func(*aigateway.User)) error {
		_, err := s.people.Store.ChangeUser(t.Context(), 1, 0, func(u *aigateway.User) error { change(u); return nil })
		return err
	}
	for name, change := range map[string]func(*site) error{
		"password": func(s *site) error { return changed(s, func(u *aigateway.User) { u.Password = "changed" }) },
		"disabled": func(s *site) error { return changed(s, func(u *aigateway.User) { u.Disabled = true }) },
		"deleted": func(s *site) error {
			return s.people.Store.DeleteUser(t.Context(), 1, func(*aigateway.User) error { return nil })
		},
	} {
		s := loginSite(t, nil)
		s.people.Hasher = comparing{quick, func() { require.NoError(t, change(s)) }}
		answer := s.ask(testRequest{call: loginCall, body: credentials("alice", password)})
		assert.Equal(t, http.StatusUnauthorized, answer.status, name)
		assert.Equal(t, wrongBody, answer.body)
		assert.Empty(t, answer.header.Get("Set-Cookie"))
		sessions, err := s.people.Store.SessionsOf(t.Context(), 1)
		require.NoError(t, err)
		assert.Empty(t, sessions, name)
	}
}

// comparing is a hasher that calls a function while it compares.
type comparing struct {
	people.Argon2id
	happens func()
}

// Compare calls the function.
func (c comparing) Compare(hash, password []byte) (bool, error) {
	c.happens()
	return c.Argon2id.Compare(hash, password)
}

func TestLoginsOfOneUserEndTheOldestBeyondAHundred(t *testing.T) {
	s := loginSite(t, nil)
	first := s.token("alice")
	for range 100 {
		s.token("alice")
	}
	sessions, err := s.people.Store.SessionsOf(t.Context(), 1)
	require.NoError(t, err)
	assert.Len(t, sessions, 100)
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: "GET /api/user/self", token: first}).status)
}

func TestLoginStoresAShortPrintableUserAgent(t *testing.T) {
	s := loginSite(t, nil)
	answer := s.ask(testRequest{call: loginCall, body: credentials("alice", password),
		header: headers("User-Agent", "curl\x00\x1b[31m/8\u202e"+strings.Repeat("é", 300))})
	agent := answer.data(t)["session"].(map[string]any)["agent"].(string)
	assert.Equal(t, "curl[31m/8", agent[:10])
	assert.LessOrEqual(t, len(agent), 256)
	assert.NotContains(t, agent, "\ufffd")
}
