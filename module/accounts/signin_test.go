package accounts

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/go-jose/go-jose/v4"
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

func TestAnAdministratorLinksAnAccount(t *testing.T) {
	s, i := signInSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	s.user("alice", aigateway.RoleUser)
	root := s.token("root")
	b := s.browser()
	require.Equal(t, failedWith("unknown"), b.signIn(i, person("0815")))
	refused := s.logs.FilterMessage("sign-in failed").All()
	require.Len(t, refused, 1)
	fields := refused[0].ContextMap()
	assert.Equal(t, []any{i.URL, "0815"}, pick(fields, "issuer", "subject"), "what the administrator needs")

	const path = "/api/v1/users/alice/identities"
	body := fmt.Sprintf(`{"issuer":"%s","subject":"0815"}`, i.URL)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST " + path, body: body, token: root}).status)
	assert.Equal(t, http.StatusConflict, s.ask(testRequest{call: "POST /api/v1/users/root/identities", body: body, token: root}).status, "one user only")
	assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "POST " + path, body: `{"issuer":"https://other.example","subject":"0815"}`, token: root}).status)
	assert.Equal(t, home, b.signIn(i, person("0815")))
	assert.Equal(t, "alice", b.self()["username"])

	assert.Equal(t, http.StatusNoContent, s.ask(testRequest{call: "DELETE " + path, token: root}).status)
	assert.Nil(t, b.self(), "the sessions end")
	assert.Equal(t, failedWith("unknown"), b.signIn(i, person("0815")))
	for n := range maxIdentities + 1 {
		want := http.StatusOK
		if n == maxIdentities {
			want = http.StatusConflict
		}
		answer := s.ask(testRequest{call: "POST " + path, body: fmt.Sprintf(`{"issuer":"%s","subject":"%d"}`, i.URL, n), token: root})
		require.Equal(t, want, answer.status, answer.body)
	}
}

// Who links an identity with a user can be that user, as who sets the password can.
func TestIdentitiesAreManagedAsPasswordsAre(t *testing.T) {
	for _, c := range []struct {
		by, of  string
		allowed bool
	}{
		{"user", "user", false}, {"user", "user2", false}, {"admin", "user", true}, {"admin", "admin2", false}, {"admin", "root", false}, {"root", "root2", true},
	} {
		s := hierarchy(t)
		s.Proxy = &signin.Proxy{User: "{http.vars.user}", Name: "proxy"}
		path := "/api/v1/users/" + c.of + "/identities"
		for call, body := range map[string]string{"GET ": "", "POST ": `{"issuer":"proxy","subject":"x"}`, "DELETE ": ""} {
			status := s.ask(testRequest{call: call + path, body: body, token: s.token(c.by)}).status
			assert.Equal(t, c.allowed, status < http.StatusMultipleChoices, "%s %v", call, c)
			assert.Equal(t, c.allowed, status != http.StatusForbidden, "%s %v", call, c)
		}
	}
}

func TestTheMachineLinksAnyIdentity(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	const path = "/api/v1/users/alice/identities"
	assert.Equal(t, http.StatusOK, s.admin("POST "+path, `{"issuer":"https://login.example.com","subject":"7"}`).status)
	assert.Contains(t, s.admin("GET "+path, "").body, `"subject":"7"`)
	assert.Equal(t, http.StatusNotFound, s.admin("GET /api/v1/users/bob/identities", "").status)
	assert.Equal(t, http.StatusNoContent, s.admin("DELETE "+path, "").status)
	assert.Equal(t, `{"items":[],"next":""}`, s.admin("GET "+path, "").body)
}

func TestGroupsDecideTheRoleAtEachSignIn(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) {
		c.Create, c.Roles = "user", map[string][]string{"admin": {"ai-admins", "ops"}, "root": {"ai-root"}}
	})
	s.user("root", aigateway.RoleRoot)
	b := s.browser()
	for _, c := range []struct {
		groups any
		role   float64
	}{
		{[]string{"ops"}, 10}, {[]string{"ops", "ai-root"}, 100}, {nil, 1}, {"x ai-admins", 10}, {[]string{"AI-ADMINS", "ai-admins2", "ai-*", "ops ai-root"}, 1},
		{map[string]any{"ai-root": true}, 1}, {[]any{"ops", 7, nil, []string{"ai-root"}}, 10}, {7, 1},
	} {
		who := person("alice")
		who["groups"], who["role"], who["roles"], who["admin"] = c.groups, "root", []string{"ai-root"}, true
		require.Equal(t, home, b.signIn(i, who), c)
		assert.Equal(t, c.role, b.self()["role"], c)
	}
}

// The groups of a person are names that an issuer chooses, and may be those of teams by accident.
func TestGroupsAreTeamsOnlyIfTheConfigurationSaysSo(t *testing.T) {
	many := make([]string, 300)
	for n := range many {
		many[n] = fmt.Sprint("group-", n)
	}
	for name, c := range map[string]struct {
		teams  string
		groups any
		joins  bool
	}{
		"by default":             {"", []string{"research"}, false},
		"off":                    {"off", []string{"research"}, false},
		"a group":                {"groups", []string{"x", "research"}, true},
		"another case":           {"groups", []string{"Research", "RESEARCH"}, false},
		"almost the name":        {"groups", []string{"researc", "research2", "/research", "research ", "%", "*"}, false},
		"behind too many groups": {"groups", append(many, "research"), false},
		"an object":              {"groups", map[string]any{"research": true}, false},
	} {
		s, i := signInSite(t, func(way *signin.Issuer) { way.Create, way.Teams = "user", c.teams })
		require.Equal(t, http.StatusOK, s.admin("POST /api/v1/teams", `{"name":"research"}`).status)
		who, b := person("alice"), s.browser()
		who["groups"] = c.groups
		require.Equal(t, home, b.signIn(i, who), name)
		members := func() string { return s.admin("GET /api/v1/teams/research/members", "").body }
		assert.Equal(t, c.joins, strings.Contains(members(), `"user":"alice"`), "%s: %s", name, members())
		assert.NotContains(t, members(), `"admin":true`, "no group makes an administrator of a team")
		assert.NotContains(t, s.admin("GET /api/v1/teams", "").body, "group-1", "nor a team")
		require.Equal(t, home, b.signIn(i, person("alice")))
		assert.NotContains(t, members(), "alice", "%s: the group is gone", name)
	}
}

// Without rules for roles, an administrator decides, and no claim changes the role.
func TestWithoutRulesNoClaimChangesARole(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	require.Equal(t, home, b.signIn(i, person("alice", "root", "admin", "ai-root")))
	require.Equal(t, 1.0, b.self()["role"])
	s.admin("PATCH /api/v1/users/alice", `{"role":"admin"}`)
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	assert.Equal(t, 10.0, b.self()["role"])
}

func TestTheLastRootUserIsNotDemotedAndNotLetIn(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) { c.Roles = map[string][]string{"root": {"ai-root"}} })
	s.user("alice", aigateway.RoleRoot)
	s.admin("POST /api/v1/users/alice/identities", fmt.Sprintf(`{"issuer":"%s","subject":"a"}`, i.URL))
	b := s.browser()
	assert.Equal(t, failedWith("root"), b.signIn(i, person("a")))
	assert.Nil(t, b.self())
	assert.Equal(t, home, b.signIn(i, person("a", "ai-root")))
}

func TestOnlyWhoMeetsTheRequirementsSignsIn(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) {
		c.Create, c.Require = "user", map[string][]string{"hd": {"example.com", "example.org"}, "realm.roles": {"ai"}}
	})
	in := person("in")
	in["hd"], in["realm"] = "example.org", map[string]any{"roles": []string{"x", "ai"}}
	assert.Equal(t, home, s.browser().signIn(i, in))
	for name, spoil := range map[string]func(aigateway.Claims){
		"another value": func(c aigateway.Claims) { c["hd"] = "example.com.evil.example" },
		"no value":      func(c aigateway.Claims) { delete(c, "hd") },
		"one of two":    func(c aigateway.Claims) { c["realm"] = map[string]any{"roles": []string{"x"}} },
		"another kind":  func(c aigateway.Claims) { c["hd"] = map[string]any{"example.com": true} },
	} {
		out := person("out")
		out["hd"], out["realm"] = in["hd"], in["realm"]
		spoil(out)
		assert.Equal(t, failedWith("refused"), s.browser().signIn(i, out), name)
	}
}

// Who was refused at the next sign-in kept the role, the sessions, the memberships and the keys of teams.
func TestWhoIsRefusedLosesWhatGroupsGave(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) {
		c.Create, c.Teams, c.Require = "user", "groups", map[string][]string{"hd": {"example.com"}}
		c.Roles = map[string][]string{"admin": {"ops"}}
	})
	s.user("root", aigateway.RoleRoot)
	for _, team := range []string{"research", "by-hand"} {
		require.Equal(t, http.StatusOK, s.admin("POST /api/v1/teams", fmt.Sprintf(`{"name":%q}`, team)).status)
	}
	who, b := person("alice", "research", "ops"), s.browser()
	who["hd"] = "example.com"
	require.Equal(t, home, b.signIn(i, who))
	s.admin("PUT /api/v1/teams/by-hand/members/alice", `{"admin":false}`)
	for _, body := range []string{`{"user":"alice","name":"given","limit":"research"}`, `{"user":"alice","name":"kept","limit":"by-hand"}`} {
		require.Equal(t, http.StatusOK, s.admin("POST /api/v1/keys", body).status)
	}
	members := func(team string) string { return s.admin("GET /api/v1/teams/"+team+"/members", "").body }
	require.Contains(t, members("research"), "alice")
	require.Equal(t, 10.0, b.self()["role"])

	who["hd"] = "example.org"
	assert.Equal(t, failedWith("refused"), s.browser().signIn(i, who))
	assert.Nil(t, b.self(), "the session of the other browser")
	assert.NotContains(t, members("research"), "alice")
	assert.Contains(t, members("by-hand"), "alice")
	keys := s.admin("GET /api/v1/keys?user=alice", "").body
	assert.NotContains(t, keys, `"name":"given"`)
	assert.Contains(t, keys, `"name":"kept"`)
	assert.Contains(t, s.admin("GET /api/v1/users/alice", "").body, `"role":"user"`)

	s.admin("PATCH /api/v1/users/alice", `{"disabled":true}`)
	assert.Equal(t, failedWith("refused"), s.browser().signIn(i, who))
	who["sub"], who["preferred_username"] = "mallory", "mallory"
	assert.Equal(t, failedWith("refused"), s.browser().signIn(i, who))
	assert.NotContains(t, s.admin("GET /api/v1/users", "").body, "mallory")
}

func TestADisabledUserStaysOut(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	require.Equal(t, home, b.signIn(i, person("alice")))
	s.admin("PATCH /api/v1/users/alice", `{"disabled":true}`)
	assert.Nil(t, b.self())
	assert.Equal(t, failedWith("disabled"), b.signIn(i, person("alice", "x")))
	assert.Nil(t, b.self())
	s.admin("DELETE /api/v1/users/alice", "")
	require.Equal(t, home, b.signIn(i, person("alice")), "a deleted user has no identity any more")
	assert.NotEqual(t, 1.0, b.self()["id"])
}

// The owner of a key of the configuration is somebody else: usage counts by name.
func TestAReservedNameIsNotCreated(t *testing.T) {
	s, i := signInSite(t, creating)
	s.ReserveNames(func(name string) bool { return name == "team-search" })
	assert.Equal(t, failedWith("name"), s.browser().signIn(i, person("Team-Search")))
}

func TestHostileClaims(t *testing.T) {
	s, i := signInSite(t, creating)
	huge := make([]string, 20_000)
	for n := range huge {
		huge[n] = fmt.Sprint("group-", n)
	}
	for name, c := range map[string]struct {
		change func(aigateway.Claims)
		want   string
	}{
		"a name with spaces":         {func(c aigateway.Claims) { c["preferred_username"] = "a b" }, failedWith("name")},
		"a name in another script":   {func(c aigateway.Claims) { c["preferred_username"] = "аdmin" }, failedWith("name")},
		"a name of markup":           {func(c aigateway.Claims) { c["preferred_username"] = "<img src=x>" }, failedWith("name")},
		"a long name":                {func(c aigateway.Claims) { c["preferred_username"] = strings.Repeat("a", 65) }, failedWith("name")},
		"no name":                    {func(c aigateway.Claims) { delete(c, "preferred_username") }, failedWith("name")},
		"a name that is a list":      {func(c aigateway.Claims) { c["preferred_username"] = []string{"x", "y"} }, failedWith("name")},
		"no subject":                 {func(c aigateway.Claims) { delete(c, "sub") }, failedWith("invalid")},
		"an empty subject":           {func(c aigateway.Claims) { c["sub"] = "" }, failedWith("invalid")},
		"a subject with a zero":      {func(c aigateway.Claims) { c["sub"] = "a\x00b" }, failedWith("invalid")},
		"a long subject":             {func(c aigateway.Claims) { c["sub"] = strings.Repeat("s", 256) }, failedWith("invalid")},
		"a subject that is a number": {func(c aigateway.Claims) { c["sub"] = 7 }, failedWith("invalid")},
		"a display name that misleads": {func(c aigateway.Claims) {
			c["sub"], c["preferred_username"], c["name"] = "d", "d", "\u202eroot\x1b[31m\n"+strings.Repeat("w", 99)
		}, home},
		"many groups": {func(c aigateway.Claims) { c["sub"], c["preferred_username"], c["groups"] = "g", "g", huge }, home},
		"groups of odd characters": {func(c aigateway.Claims) {
			c["sub"], c["preferred_username"], c["groups"] = "o", "o", []string{"\x00", strings.Repeat("x", 500), "ok"}
		}, home},
		"claims of more than a mebibyte": {func(c aigateway.Claims) { c["groups"] = strings.Repeat("x", 1<<20) }, failedWith("away")},
	} {
		who := person("mallory")
		c.change(who)
		assert.Equal(t, c.want, s.browser().signIn(i, who), name)
	}
	user, err := s.people.Store.UserByName(t.Context(), "d")
	require.NoError(t, err)
	assert.Equal(t, "root[31m"+strings.Repeat("w", 56), user.DisplayName)
	groupsOf := func(name string) []string {
		user, err := s.people.Store.UserByName(t.Context(), name)
		require.NoError(t, err)
		all, err := s.people.Store.(aigateway.IdentityStore).IdentitiesOf(t.Context(), user.ID)
		require.NoError(t, err)
		return all[0].Groups
	}
	assert.Equal(t, huge[:200], groupsOf("g"))
	assert.Equal(t, []string{"ok"}, groupsOf("o"))
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

// An address that the issuer has not verified may be that of somebody else.
func TestANameThatIsAnAddressMustBeVerified(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) { c.Create, c.NameClaim = "user", "email" })
	for _, verified := range []any{nil, false, "false", "yes", 1} {
		who := aigateway.Claims{"sub": "a", "email": "alice@example.com", "email_verified": verified}
		assert.Equal(t, failedWith("name"), s.browser().signIn(i, who), verified)
	}
	for n, verified := range []any{true, "true", "True"} {
		b, name := s.browser(), fmt.Sprint("alice", n, "@example.com")
		assert.Equal(t, home, b.signIn(i, aigateway.Claims{"sub": name, "email": strings.ToUpper(name), "email_verified": verified}))
		assert.Equal(t, name, b.self()["username"])
	}
}

// TestAnAddressIsVerifiedByItsOwnSource: an ID token with the address of somebody else, which it
// does not call verified, took the email_verified of the userinfo endpoint, which named another.
func TestAnAddressIsVerifiedByItsOwnSource(t *testing.T) {
	const own, other = "own@example.com", "other@example.com"
	for name, c := range map[string]struct {
		token, info aigateway.Claims
		want        any
	}{
		"all at the endpoint":               {nil, aigateway.Claims{"email": own, "email_verified": "true"}, own},
		"in other letters":                  {nil, aigateway.Claims{"email": own, "email_verified": "True"}, own},
		"the same address":                  {aigateway.Claims{"email": own}, aigateway.Claims{"email": own, "email_verified": true}, own},
		"another address":                   {aigateway.Claims{"email": other}, aigateway.Claims{"email": own, "email_verified": true}, nil},
		"no address at the endpoint":        {aigateway.Claims{"email": other}, aigateway.Claims{"email_verified": true}, nil},
		"a token that verifies nothing":     {aigateway.Claims{"email_verified": true}, aigateway.Claims{"email": other}, nil},
		"an address in null":                {aigateway.Claims{"email": nil, "email_verified": true}, aigateway.Claims{"email": other}, nil},
		"a token that knows better":         {aigateway.Claims{"email": other, "email_verified": false}, aigateway.Claims{"email": other, "email_verified": true}, nil},
		"verified by the token":             {aigateway.Claims{"email": own, "email_verified": true}, aigateway.Claims{"email": other, "email_verified": false}, own},
		"a list of addresses":               {aigateway.Claims{"email": []string{other}}, aigateway.Claims{"email": own, "email_verified": true}, own},
		"verified in a word of no document": {nil, aigateway.Claims{"email": own, "email_verified": 1}, nil},
	} {
		s, i := signInSite(t, func(c *signin.Issuer) { c.Create, c.NameClaim = "user", "email" })
		i.userinfo = aigateway.Claims{"sub": "7"}
		maps.Copy(i.userinfo, c.info)
		who := aigateway.Claims{"sub": "7"}
		maps.Copy(who, c.token)
		b := s.browser()
		b.signIn(i, who)
		assert.Equal(t, c.want, b.self()["username"], name)
	}
}

// Some issuers have the claims at the userinfo endpoint alone.
func TestClaimsOfTheUserInfoEndpointCount(t *testing.T) {
	s, i := signInSite(t, func(c *signin.Issuer) { c.Create, c.Roles = "user", map[string][]string{"admin": {"ops"}} })
	s.user("root", aigateway.RoleRoot)
	i.userinfo = aigateway.Claims{"sub": "7", "preferred_username": "alice", "name": "Alice", "groups": []string{"ops"}, "iss": "https://evil.example"}
	b := s.browser()
	assert.Equal(t, home, b.signIn(i, aigateway.Claims{"sub": "7"}))
	assert.Equal(t, []any{"alice", "Alice", 10.0}, pick(b.self(), "username", "display_name", "role"))
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, aigateway.Claims{"sub": "8"}), "the answer is that of another subject")
	i.change(func() { i.userinfo = aigateway.Claims{} })
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, aigateway.Claims{"sub": "7"}), "the answer names nobody")
}

func TestIDTokensAreVerified(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	now := time.Now()
	for name, c := range map[string]struct {
		token func(aigateway.Claims)
		sign  func(i *issuer, claims aigateway.Claims) any
		valid bool
	}{
		"another audience":         {token: func(c aigateway.Claims) { c["aud"] = "wiki" }},
		"audiences without ours":   {token: func(c aigateway.Claims) { c["aud"] = []string{"wiki", "gateway2"} }},
		"no audience":              {token: func(c aigateway.Claims) { delete(c, "aud") }},
		"issued to another client": {token: func(c aigateway.Claims) { c["aud"], c["azp"] = []string{"wiki", clientID}, "wiki" }},
		"several audiences":        {token: func(c aigateway.Claims) { c["aud"], c["azp"] = []string{"wiki", clientID}, clientID }, valid: true},
		"another issuer":           {token: func(c aigateway.Claims) { c["iss"] = "https://other.example" }},
		"no nonce":                 {token: func(c aigateway.Claims) { delete(c, "nonce") }},
		"another nonce":            {token: func(c aigateway.Claims) { c["nonce"] = "x" }},
		"expired":                  {token: func(c aigateway.Claims) { c["exp"] = now.Add(-90 * time.Second).Unix() }},
		"no expiry":                {token: func(c aigateway.Claims) { delete(c, "exp") }},
		"a clock that is ahead":    {token: func(c aigateway.Claims) { c["exp"] = now.Add(-30 * time.Second).Unix() }, valid: true},
		"a clock that is behind": {token: func(c aigateway.Claims) {
			c["nbf"], c["iat"] = now.Add(time.Minute).Unix(), now.Add(time.Minute).Unix()
		}, valid: true},
		"of the future":             {token: func(c aigateway.Claims) { c["nbf"] = now.Add(time.Hour).Unix() }},
		"another key":               {sign: func(i *issuer, c aigateway.Claims) any { return i.signed(other, i.keyID, c) }},
		"no token":                  {sign: func(*issuer, aigateway.Claims) any { return nil }},
		"no text":                   {sign: func(*issuer, aigateway.Claims) any { return 7 }},
		"no signature":              {sign: func(i *issuer, c aigateway.Claims) any { return unsigned(t, "none", c) }},
		"no signature, in capitals": {sign: func(i *issuer, c aigateway.Claims) any { return unsigned(t, "NONE", c) }},
		"the secret as a key": {sign: func(i *issuer, c aigateway.Claims) any {
			return i.jws(jose.HS256, []byte(clientSecret+strings.Repeat("!", 32)), c)
		}},
		"the public key as a secret": {sign: func(i *issuer, c aigateway.Claims) any {
			public, err := x509.MarshalPKIXPublicKey(i.key.Public())
			require.NoError(t, err)
			return i.jws(jose.HS256, public, c)
		}},
		"an encrypted token": {sign: func(i *issuer, c aigateway.Claims) any { return "a.b.c.d.e" }},
	} {
		t.Run(name, func(t *testing.T) {
			s, i := signInSite(t, creating)
			if c.token != nil {
				i.token = c.token
			}
			if c.sign != nil {
				i.sign = func(claims aigateway.Claims) any { return c.sign(i, claims) }
			}
			b, want := s.browser(), failedWith("invalid")
			if c.valid {
				want = home
			}
			assert.Equal(t, want, b.signIn(i, person("alice")))
			assert.Equal(t, c.valid, b.self() != nil)
		})
	}
}

// unsigned returns a token whose header names an algorithm without a signature.
func unsigned(t *testing.T, algorithm string, claims aigateway.Claims) string {
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"`+algorithm+`"}`)) + "." + encode(payload) + "."
}

// That newer keys are read is shown by the tests of the package issuer.
func TestKeysOfTheIssuerAreReadOnce(t *testing.T) {
	s, i := signInSite(t, creating)
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	require.Equal(t, home, s.browser().signIn(i, person("alice")))
	i.change(func() { i.rotate("second") })
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")), "they were read within the minute")
	assert.Equal(t, 1, i.calls["/.well-known/openid-configuration"])
	assert.Equal(t, 1, i.calls["/keys"])
}

// An answer counts once, and only in the browser that began the sign-in.
func TestAnswersOfOtherSignInsDoNotCount(t *testing.T) {
	s, i := signInSite(t, creating)
	const callback = "/api/v1/signin/company/callback?"
	victim, attacker := s.browser(), s.browser()
	theirs := i.authorize(attacker.begin("company"), person("attacker"))
	at := func(b *browser, query url.Values) string {
		return b.get(callback + query.Encode()).header.Get("Location")
	}
	assert.Equal(t, failedWith("expired"), at(victim, theirs), "a browser without a ticket")
	victim.begin("company")
	assert.Equal(t, failedWith("expired"), at(victim, theirs), "the answer of another browser")
	assert.Empty(t, victim.cookies, "the ticket is gone with the first answer")
	assert.Nil(t, victim.self())

	own := i.authorize(victim.begin("company"), person("victim"))
	mixed := url.Values{"code": theirs["code"], "state": own["state"]}
	assert.Equal(t, failedWith("expired"), at(victim, mixed), "the code belongs to another verifier")

	own = i.authorize(victim.begin("company"), person("victim"))
	ticket := victim.cookies["signin-company"]
	require.Equal(t, home, at(victim, own))
	assert.Equal(t, failedWith("expired"), at(victim, own), "a second time, without the ticket")
	victim.cookies["signin-company"] = ticket
	assert.Equal(t, failedWith("expired"), at(victim, own), "a second time, with the ticket: the issuer refuses the code")
	require.NotNil(t, victim.self(), "the session stays")

	for name, spoil := range map[string]func(url.Values){
		"no state":      func(q url.Values) { q.Del("state") },
		"another state": func(q url.Values) { q.Set("state", strings.Repeat("x", 43)) },
		"no code":       func(q url.Values) { q.Del("code") },
	} {
		b := s.browser()
		query := i.authorize(b.begin("company"), person("victim"))
		spoil(query)
		assert.Equal(t, failedWith("expired"), at(b, query), name)
	}
	b := s.browser()
	query := i.authorize(b.begin("company"), person("victim"))
	b.cookies["signin-company"] += "; signin-company=planted"
	assert.Equal(t, failedWith("expired"), at(b, query), "two tickets")
}

// The second of two windows of a browser counts: there is one ticket.
func TestTheLastWindowCounts(t *testing.T) {
	s, i := signInSite(t, creating)
	b := s.browser()
	first := i.authorize(b.begin("company"), person("alice"))
	second := i.authorize(b.begin("company"), person("alice"))
	assert.NotEqual(t, first.Get("state"), second.Get("state"))
	assert.Equal(t, home, b.get("/api/v1/signin/company/callback?"+second.Encode()).header.Get("Location"))
	assert.Equal(t, failedWith("expired"), b.get("/api/v1/signin/company/callback?"+first.Encode()).header.Get("Location"))
	assert.NotNil(t, b.self())
}

// An attacker who controls one issuer must not get or inject the answers of another.
func TestIssuersAreNotMixedUp(t *testing.T) {
	good, evil := newIssuer(t), newIssuer(t)
	s := newSite(t, func(a *Accounts) {
		a.Issuers = []*signin.Issuer{good.settings(creating), evil.settings(func(c *signin.Issuer) { c.Name, c.Create = "evil", "user" })}
	})
	b := s.browser()
	query := good.authorize(b.begin("company"), person("alice"))
	b.begin("evil")
	at := func(path string, query url.Values) string {
		return b.get(path + "?" + query.Encode()).header.Get("Location")
	}
	assert.Equal(t, failedWith("expired"), at("/api/v1/signin/evil/callback", query), "the code never reaches the other issuer")
	assert.Zero(t, evil.calls["/token"])
	query.Set("iss", evil.URL)
	assert.Equal(t, failedWith("invalid"), at("/api/v1/signin/company/callback", query))
	assert.Zero(t, good.calls["/token"])
	query = good.authorize(b.begin("company"), person("alice"))
	query.Set("iss", good.URL)
	assert.Equal(t, home, at("/api/v1/signin/company/callback", query))

	same := person("alice")
	same["preferred_username"] = "alice2"
	b2 := s.browser()
	query = evil.authorize(b2.begin("evil"), same)
	assert.Equal(t, home, b2.get("/api/v1/signin/evil/callback?"+query.Encode()).header.Get("Location"))
	assert.NotEqual(t, b.self()["id"], b2.self()["id"], "the same subject at another issuer is another person")
}

func TestAnIssuerThatAnnouncesItsNameMustSendIt(t *testing.T) {
	s, i := signInSite(t, creating)
	i.document["authorization_response_iss_parameter_supported"] = true
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")))
}

// That nobody tries again at once is shown by the tests of the package issuer.
func TestAnIssuerThatIsAwayIsTriedAgain(t *testing.T) {
	s, i := signInSite(t, creating)
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	i.answer = away
	assert.Equal(t, failedWith("away"), s.browser().begin("company"))
	i.change(func() { i.answer = nil })

	again := newSite(t, func(a *Accounts) { a.Issuers = []*signin.Issuer{i.settings(creating)} })
	b := again.browser()
	query := i.authorize(b.begin("company"), person("alice"))
	i.change(func() { i.answer = away })
	assert.Equal(t, failedWith("away"), b.get("/api/v1/signin/company/callback?"+query.Encode()).header.Get("Location"))
	i.change(func() { i.answer = nil })
	assert.Equal(t, home, b.signIn(i, person("alice")))
	assert.NotContains(t, fmt.Sprint(s.logs.All(), again.logs.All()), clientSecret)
}

// Answers of an issuer that cannot be used name the reason in the log, without its texts.
func TestAnswersThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i *issuer)
		want   string
	}{
		"of another issuer":  {func(i *issuer) { i.document["issuer"] = i.URL + "/" }, "invalid"},
		"an address of http": {func(i *issuer) { i.document["token_endpoint"] = "http://token.example" }, "invalid"},
		"no keys":            {func(i *issuer) { i.document["jwks_uri"] = "" }, "invalid"},
		"no document": {func(i *issuer) {
			i.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
		}, "away"},
		"a page": {func(i *issuer) { i.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") } }, "away"},
		"a redirection": {func(i *issuer) {
			i.answer = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example", http.StatusFound)
			}
		}, "away"},
		"more than a mebibyte": {func(i *issuer) { i.document["x"] = strings.Repeat("x", 1<<20) }, "away"},
	} {
		s, i := signInSite(t, creating)
		c.change(i)
		assert.Equal(t, failedWith(c.want), s.browser().begin("company"), name)
	}
	s, i := signInSite(t, func(c *signin.Issuer) { c.ClientSecret = "" })
	assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, person("alice")), "the issuer refuses the client")
	logs := fmt.Sprint(s.logs.FilterMessage("sign-in failed").All()[0].ContextMap())
	assert.Contains(t, logs, "invalid_client")
	assert.NotContains(t, logs, "secret text")
	b := s.browser()
	refused := url.Values{"error": {"access_denied"}, "state": i.authorize(b.begin("company"), nil)["state"]}
	assert.Equal(t, failedWith("refused"), b.get("/api/v1/signin/company/callback?"+refused.Encode()).header.Get("Location"))
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

// A user who is disabled while the sign-in runs once got the answer about a wrong password.
func TestAUserWhoIsDisabledMeanwhileStaysOut(t *testing.T) {
	s, i := signInSite(t, creating)
	s.people.Store = disabling{s.people.Store, s.people.Store.(aigateway.IdentityStore)}
	b := s.browser()
	assert.Equal(t, failedWith("disabled"), b.signIn(i, person("alice")))
	assert.Nil(t, b.self())
}

// disabling is a store in which a user is disabled after each sign-in.
type disabling struct {
	aigateway.Store
	aigateway.IdentityStore
}

func (d disabling) SignIn(ctx context.Context, identity aigateway.Identity, create func() (*aigateway.User, error), change func(*aigateway.User) error) (*aigateway.User, error) {
	user, err := d.IdentityStore.SignIn(ctx, identity, create, change)
	if err == nil {
		_, err = d.ChangeUser(ctx, user.ID, 0, func(u *aigateway.User) error { u.Disabled = true; return nil })
	}
	return user, err
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
