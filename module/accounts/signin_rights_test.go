package accounts

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

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
// Microsoft Entra leaves out the groups of a member of more than 200, and names an address that has them. Such a
// person lost the role that groups give, and the memberships with their keys, at the next sign-in.
func TestAPersonWithTooManyGroupsKeepsWhatGroupsGave(t *testing.T) {
	for name, left := range map[string]aigateway.Claims{
		"distributed": {"_claim_names": map[string]any{"groups": "src1"}, "_claim_sources": map[string]any{"src1": map[string]any{"endpoint": "https://graph.example/me"}}},
		"hasgroups":   {"hasgroups": true},
	} {
		s, i := signInSite(t, func(c *signin.Issuer) {
			c.Create, c.Teams, c.Roles = "user", "groups", map[string][]string{"admin": {"operators"}}
		})
		many := person("alice")
		delete(many, "groups")
		maps.Copy(many, left)
		assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, many), "%s: before any other sign-in", name)
		b := s.browser()
		require.Equal(t, home, b.signIn(i, person("alice", "operators")))
		assert.Equal(t, failedWith("invalid"), s.browser().signIn(i, many), name)
		require.NotNil(t, b.self(), name)
		assert.EqualValues(t, aigateway.RoleAdmin, b.self()["role"], "%s: the session and the role stay", name)
	}
	s, i := signInSite(t, creating)
	many := person("alice")
	delete(many, "groups")
	many["hasgroups"] = true
	assert.Equal(t, home, s.browser().signIn(i, many), "where groups mean nothing")
}

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
