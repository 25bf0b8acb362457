package accounts

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

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
