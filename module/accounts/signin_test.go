package accounts

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const home = "/console/"

func failedWith(code string) string { return home + "?signin=" + code }

func TestAPersonOfTheIssuerGetsAnAccountAndASession(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	assert.Equal(t, home, b.signIn(i, person("alice", "dev", "ops")))
	assert.Equal(t, []any{"alice", "The alice", 1.0}, pick(b.self(), "username", "display_name", "role"))
	assert.Equal(t, []string{"session"}, keysOf(b.cookies), "the ticket is gone")

	first := b.self()["id"]
	again := s.browser()
	renamed := person("alice")
	renamed["preferred_username"], renamed["name"] = "alicia", "Alicia"
	assert.Equal(t, home, again.signIn(i, renamed))
	assert.Equal(t, first, again.self()["id"], "the subject identifies the person, whatever the name")
	assert.Equal(t, "The alice", again.self()["display_name"], "the user may have changed it here")

	s.user("root", aigateway.RoleRoot)
	answer := s.ask(testRequest{call: "GET /api/v1/users/alice/identities", token: s.token("root")})
	assert.Contains(t, answer.body, `"subject":"alice","groups":[]`, "the groups of the last sign-in")
	for _, guess := range []string{"x", "alice", " "} {
		assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: loginCall, body: credentials("alice", guess)}).status, "the account has no password")
	}
}

func pick(object map[string]any, names ...string) (values []any) {
	for _, name := range names {
		values = append(values, object[name])
	}
	return values
}

func keysOf(m map[string]string) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// TestBelowAPrefixASignInStaysThere: a gateway below /ai sent browsers to the application beside
// it, which has cookies of the same name.
func TestBelowAPrefixASignInStaysThere(t *testing.T) {
	s, i := signInSite(t, creating)
	below := func(target string, cookies ...*http.Cookie) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), "GET", target, nil)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		original := *r
		r.URL, _ = url.Parse(strings.Replace(target, "/ai", "", 1))
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, original))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Result()
	}
	foreign := &http.Cookie{Name: "session", Value: "of-the-wiki"}
	begun := below("/ai/api/v1/signin/company", foreign)
	require.Equal(t, http.StatusSeeOther, begun.StatusCode)
	issuer, err := url.Parse(begun.Header.Get("Location"))
	require.NoError(t, err)
	assert.Equal(t, "http://example.com/ai/api/v1/signin/company/callback", issuer.Query().Get("redirect_uri"))
	query := i.authorize(issuer.String(), person("alice")).Encode()
	ended := below("/ai/api/v1/signin/company/callback?"+query, append(begun.Cookies(), foreign)...)
	assert.Equal(t, "../../../../console/", ended.Header.Get("Location"))
	for _, cookie := range ended.Cookies() {
		if cookie.Name == "session" {
			assert.Equal(t, "/ai/", cookie.Path)
			assert.Equal(t, http.StatusOK, below("/ai/api/user/self", cookie, foreign).StatusCode, "the cookie of the wiki is no second session")
			return
		}
	}
	assert.Fail(t, "no session")
}

func TestThePathsOfASignInAreListedWithoutSecrets(t *testing.T) {
	s, i := signInSite(t, nil)
	answer := s.ask(testRequest{call: "GET /api/v1/signin"})
	assert.JSONEq(t, `{"password":true,"ways":[{"name":"company","path":"/api/v1/signin/company"}]}`, answer.body)
	assert.Zero(t, i.calls["/.well-known/openid-configuration"], "the issuer is asked when somebody signs in")
	assert.JSONEq(t, `{"password":true,"ways":[]}`, newSite(t, nil).ask(testRequest{call: "GET /api/v1/signin"}).body)
}

// An account is never found by a name or an e-mail address: whoever can choose them at the
// issuer would take over accounts.
func TestAnAccountWithTheSameNameIsNotThatOfThePerson(t *testing.T) {
	for name, change := range map[string]func(*signin.Issuer){
		"name": nil, "name, when accounts are created": creating,
		"address": func(s *signin.Issuer) { s.Create, s.NameClaim = "user", "email" },
	} {
		t.Run(name, func(t *testing.T) {
			s, i := signInSite(t, change)
			s.user("alice", aigateway.RoleRoot)
			s.user("alice@example.com", aigateway.RoleRoot)
			who := person("alice")
			who["email"], who["email_verified"] = "alice@example.com", true
			b := s.browser()
			want := failedWith("name")
			if change == nil {
				want = failedWith("unknown")
			}
			assert.Equal(t, want, b.signIn(i, who))
			assert.Nil(t, b.self())
		})
	}
}

// The owner of a key of the configuration is somebody else: usage counts by name.
func TestAReservedNameIsNotCreated(t *testing.T) {
	s, i := signInSite(t, creating)
	s.ReserveNames(func(name string) bool { return name == "team-search" })
	assert.Equal(t, failedWith("name"), s.browser().signIn(i, person("Team-Search")))
}

// TestTheReasonOfARefusalIsInLogAndAudit: the log had "an account with your name cannot be created"
// alone, and an administrator could not find out that the issuer sends no email_verified.
func TestTheReasonOfARefusalIsInLogAndAudit(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) {
		c.Create, c.NameClaim, c.Require = "user", "email", map[string][]string{"hd": {"x.example"}}
	})
	s.user("root", aigateway.RoleRoot)
	s.user("taken@x.example", aigateway.RoleUser)
	s.ReserveNames(func(name string) bool { return name == "search@x.example" })
	const refused = "an account with your name cannot be created: ask an administrator to link one: "
	for _, c := range []struct {
		change aigateway.Claims
		reason string
	}{
		{aigateway.Claims{"email": nil}, refused + "the claim email is missing"},
		{aigateway.Claims{"email_verified": nil}, refused + "the claim email is not verified: the issuer sends no email_verified"},
		{aigateway.Claims{"email_verified": "false"}, refused + `the claim email is not verified: email_verified is "false"`},
		{aigateway.Claims{"email": "taken@x.example"}, refused + "the name taken@x.example is taken"},
		{aigateway.Claims{"email": "Search@x.example"}, refused + "the name search@x.example is reserved for the owner of a key"},
		{aigateway.Claims{"email": "a b@x.example"}, refused + `"a b@x.example" is not valid: username must be 1 to 64 letters, digits or ._@+- with a letter or digit first`},
		{aigateway.Claims{"hd": "y.example"}, "the sign-in is not permitted: the claim hd has none of the required values"},
	} {
		who := aigateway.Claims{"sub": "248289761001", "email": "a@x.example", "email_verified": true, "hd": "x.example"}
		maps.Copy(who, c.change)
		s.browser().signIn(i, who)
		logged := s.logs.FilterMessage("sign-in failed").All()
		last := logged[len(logged)-1].ContextMap()
		assert.Equal(t, c.reason, last["error"])
		assert.Equal(t, "248289761001", last["subject"])
		rows := s.rows(s.token("root"), "action=login.fail&limit=1")
		assert.Contains(t, rows[0], "issuer[>"+i.URL+"] subject[>248289761001] reason[>"+c.reason+"]")
	}
}

// The gateway sends browsers to the issuer and to the console, wherever a request wants to go.
func TestRedirectionsAreNotOpen(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	for _, query := range []string{"?next=https://evil.example", "?redirect_uri=https://evil.example", "?return_to=//evil.example"} {
		to := b.begin("company" + query)
		assert.True(t, strings.HasPrefix(to, i.URL+"/authorize?"))
		assert.NotContains(t, to, "evil")
		answer := i.authorize(to, person("alice"))
		answer.Set("next", "https://evil.example")
		assert.Equal(t, home, b.get("/api/v1/signin/company/callback?"+answer.Encode()).header.Get("Location"))
	}
	for _, path := range []string{"/api/v1/signin/other", "/api/v1/signin/COMPANY", "/api/v1/signin/evil.example"} {
		assert.Equal(t, http.StatusNotFound, s.ask(testRequest{call: "GET " + path}).status, path)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, s.ask(testRequest{call: "POST /api/v1/signin/company"}).status)
}

func TestTheCallbackIsThatOfTheRequestOrOfTheConfiguration(t *testing.T) {
	callback := func(to string) string {
		u, err := url.Parse(to)
		require.NoError(t, err)
		return u.Query().Get("redirect_uri")
	}
	s, i := signInSite(t, nil)
	b := s.browser()
	assert.Equal(t, "http://ai.example.com/api/v1/signin/company/callback", callback(b.begin("company")))
	over := s.ask(testRequest{call: "GET https://ai.example.com/api/v1/signin/company"})
	assert.Equal(t, "https://ai.example.com/api/v1/signin/company/callback", callback(over.header.Get("Location")))
	ticket, err := http.ParseSetCookie(over.header.Get("Set-Cookie"))
	require.NoError(t, err)
	assert.Equal(t, "__Host-signin-company", ticket.Name)
	assert.Equal(t, []any{true, true, http.SameSiteLaxMode, 600, "/"}, []any{ticket.Secure, ticket.HttpOnly, ticket.SameSite, ticket.MaxAge, ticket.Path})

	const fixed = "https://gateway.example.com/api/v1/signin/company/callback"
	s = newSite(t, func(a *Accounts) {
		a.Issuers = []*signin.Issuer{i.settings(func(c *signin.Issuer) { c.Callback, c.Create = fixed, "user" })}
	})
	b = s.browser()
	b.host = "evil.example"
	to := b.begin("company")
	assert.Equal(t, fixed, callback(to))
	assert.Equal(t, home, b.get("/api/v1/signin/company/callback?"+i.authorize(to, person("alice")).Encode()).header.Get("Location"))
}

func TestManyPersonsSignInAtOnce(t *testing.T) {
	s, i := signInSite(t, creating)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			who := fmt.Sprint("user", n/2) // two browsers each, whose account is created once
			own := &site{s.Accounts, t, s.logs, map[string]bool{}, s.document}
			b := own.browser()
			if assert.Equal(t, home, b.signIn(i, person(who))) {
				assert.Equal(t, who, b.self()["username"])
			}
		})
	}
	all.Wait()
	_, total, err := s.people.Store.Users(t.Context(), aigateway.Page{Limit: 100})
	require.NoError(t, err)
	assert.Equal(t, 10, total)
	assert.Equal(t, 1, i.calls["/.well-known/openid-configuration"])
}

func TestPasswordsCanBeOff(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, func(a *Accounts) { a.Issuers, a.PasswordOff = []*signin.Issuer{i.settings(creating)}, true })
	s.user("root", aigateway.RoleRoot)
	assert.Equal(t, http.StatusForbidden, s.ask(testRequest{call: loginCall, body: credentials("root", password)}).status)
	assert.Contains(t, s.ask(testRequest{call: "GET /api/v1/signin"}).body, `"password":false`)
	assert.Equal(t, home, s.browser().signIn(i, person("alice")))
	assert.Equal(t, http.StatusOK, s.admin("PATCH /api/v1/users/alice", `{"role":"root"}`).status, "the administrator of the machine needs no login")
}

// Failures of a network are throttled, since each may cause a call of the issuer.
func TestFailedSignInsAreThrottled(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, func(a *Accounts) { a.Issuers, a.ThrottleOff = []*signin.Issuer{i.settings(creating)}, false })
	callback := testRequest{call: "GET /api/v1/signin/company/callback?code=x&state=y"}
	// Each three seconds admit one more: this test demanded that the 21st is refused, and failed where
	// 20 took longer than that.
	failures := 0
	for failures < 100 && s.ask(callback).status == http.StatusSeeOther {
		failures++
	}
	assert.GreaterOrEqual(t, failures, 20)
	assert.Equal(t, http.StatusTooManyRequests, s.ask(callback).status)
	s.user("root", aigateway.RoleRoot)
	assert.NotEmpty(t, s.token("root"), "logins with passwords go on")
}

// Whoever has got another person's cookie of a proxy's session cannot use it, and a person who
// follows another one in the same browser does not become that one.
func TestASessionOfAProxyIsThatOfThePersonWhomTheProxyNames(t *testing.T) {
	s := newSite(t, func(a *Accounts) {
		a.Proxy = &signin.Proxy{User: "{http.vars.user}", Groups: "{http.vars.groups}", Rules: signin.Rules{
			Create: "user", Roles: map[string][]string{"admin": {"ops"}},
		}}
	})
	ask := func(user, call, cookie string) testAnswer {
		return s.ask(testRequest{call: call, cookie: cookie, vars: map[string]any{"user": user, "groups": "dev, ops"}})
	}
	answer := ask("alice", "GET /api/v1/signin/proxy", "")
	require.Equal(t, home, answer.header.Get("Location"), answer.body)
	cookie, err := http.ParseSetCookie(answer.header.Get("Set-Cookie"))
	require.NoError(t, err)
	answer = ask("alice", "GET /api/user/self", cookie.Value)
	assert.Equal(t, []any{"alice", 10.0}, pick(answer.data(t), "username", "role"))
	for _, other := range []string{"bob", "", "alice\x00"} {
		assert.Equal(t, http.StatusUnauthorized, ask(other, "GET /api/user/self", cookie.Value).status, other)
	}
	assert.Equal(t, failedWith("refused"), ask("", "GET /api/v1/signin/proxy", "").header.Get("Location"))
	assert.Equal(t, failedWith("name"), ask("a b", "GET /api/v1/signin/proxy", "").header.Get("Location"))
	s.user("root", aigateway.RoleRoot)
	assert.Equal(t, failedWith("name"), ask("root", "GET /api/v1/signin/proxy", "").header.Get("Location"), "no account is found by its name")
}

func TestSignInsAreInTheAuditLog(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) { c.Create, c.Roles = "user", map[string][]string{"admin": {"ops"}} })
	s.user("root", aigateway.RoleRoot)
	root := s.token("root")
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	require.Equal(t, home, s.browser().signIn(i, person("alice", "ops")))
	require.Equal(t, failedWith("name"), s.browser().signIn(i, person("root")))
	s.ask(testRequest{call: "POST /api/v1/users/alice/identities", body: fmt.Sprintf(`{"issuer":"%s","subject":"7"}`, i.URL), token: root})
	s.ask(testRequest{call: "DELETE /api/v1/users/alice/identities", token: root})
	var actions []string
	for _, row := range s.rows(root, "limit=20") {
		words := strings.Fields(row)
		actions = append(actions, strings.Join(words[:3], " "))
	}
	assert.Subset(t, actions, []string{
		"issuer/company user.create user/alice", "issuer/company user.update user/alice", "user/alice login.ok user/alice",
		"user/root user.link user/alice", "user/root user.unlink user/alice",
	})
	assert.Contains(t, strings.Join(s.rows(root, "actor=issuer"), "\n"), "role[user>admin]")
	assert.Len(t, s.rows(root, "action=login.fail"), 1)
}
