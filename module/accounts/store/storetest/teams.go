package storetest

import (
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

var rules = aigateway.LimitRules{
	Requests: aigateway.Rate{Most: 60, Per: caddy.Duration(time.Minute)}, Concurrent: 8,
	Budget: aigateway.Budget{Micros: 500_000_000, Currency: "EUR", Calendar: aigateway.Monthly, Soft: true},
}

// NewTeam adds a team with members.
func NewTeam(t testing.TB, s aigateway.Store, name string, members ...*aigateway.User) *aigateway.Team {
	t.Helper()
	team := &aigateway.Team{Name: name, Models: []aigateway.Pattern{"claude-*"}, Rules: rules}
	require.NoError(t, s.Teams().Create(t.Context(), team))
	for _, user := range members {
		require.NoError(t, s.Teams().SetMember(t.Context(), name, user.ID, false, plenty))
	}
	return team
}

// teamKey is a key of a team that is not stored yet.
func teamKey(user *aigateway.User, name string) *aigateway.StoredKey {
	return &aigateway.StoredKey{UserID: user.ID, Name: name, Bounds: aigateway.KeyBounds{Limit: "research"}, Digest: aigateway.Digest([]byte((name + "                                ")[:32]))}
}

func teamsAreKept(t *testing.T, database Database) {
	s := database.Open(t)
	team := NewTeam(t, s, "research")
	assert.WithinDuration(t, time.Now(), team.Created, patience)
	kept, err := s.Teams().Team(t.Context(), "research")
	require.NoError(t, err)
	assert.Equal(t, team, kept)
	assert.ErrorIs(t, s.Teams().Create(t.Context(), &aigateway.Team{Name: "research"}), aigateway.ErrTaken)
	require.NoError(t, s.Teams().Create(t.Context(), &aigateway.Team{Name: "Support"}))
	bare, err := s.Teams().Team(t.Context(), "Support")
	require.NoError(t, err)
	assert.Nil(t, bare.Models, "nil means all models")
	assert.Nil(t, bare.Limit())

	for search, want := range map[string][]string{"": {"Support", "research"}, "SUPP": {"Support"}, "sea": {"research"}, "x": nil} {
		list, total, err := s.Teams().List(t.Context(), aigateway.Page{Search: search, Limit: 9})
		require.NoError(t, err)
		var names []string
		for _, team := range list {
			names = append(names, team.Name)
		}
		assert.Equal(t, want, names)
		assert.Equal(t, len(want), total)
	}
	changed, err := s.Teams().Change(t.Context(), "research", func(team *aigateway.Team) error {
		team.Name, team.Created, team.Models, team.Rules.Concurrent = "x", time.Time{}, nil, 9 // the first two stay
		return nil
	})
	require.NoError(t, err)
	want := *team
	want.Models, want.Rules.Concurrent = nil, 9
	assert.Equal(t, &want, changed)
	_, err = s.Teams().Change(t.Context(), "research", func(*aigateway.Team) error { return errRefused })
	assert.Equal(t, errRefused, err, "the error is returned unchanged")

	_, err = s.Teams().Team(t.Context(), "Research")
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	_, err = s.Teams().Change(t.Context(), "none", nil)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
	assert.ErrorIs(t, s.Teams().Delete(t.Context(), "none", true), aigateway.ErrNotFound)
}

func membersAreKept(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleAdmin)
	team, teams := NewTeam(t, s, "research", alice, bob), s.Teams()
	require.NoError(t, teams.SetMember(t.Context(), "research", alice.ID, true, 1), "it is a limit of other teams")
	members, total, err := teams.Members(t.Context(), "research", all)
	require.NoError(t, err)
	assert.Equal(t, []aigateway.Member{{UserID: alice.ID, User: "alice", Role: aigateway.RoleUser, Admin: true}, {UserID: bob.ID, User: "bob", Role: aigateway.RoleAdmin}}, members)
	assert.Equal(t, 2, total)
	members, total, err = teams.Members(t.Context(), "research", aigateway.Page{Search: "BO", Limit: 1})
	require.NoError(t, err)
	assert.Len(t, members, 1)
	assert.Equal(t, 1, total)
	list, err := teams.Of(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Equal(t, []aigateway.Membership{{Team: *team, Admin: true}}, list)

	NewTeam(t, s, "support")
	assert.ErrorIs(t, teams.SetMember(t.Context(), "support", alice.ID, false, 1), aigateway.ErrTooMany)
	assert.ErrorIs(t, teams.SetMember(t.Context(), "none", alice.ID, false, plenty), aigateway.ErrNotFound)
	assert.ErrorIs(t, teams.SetMember(t.Context(), "research", 99, false, plenty), aigateway.ErrNotFound)
	_, _, err = teams.Members(t.Context(), "none", all)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)

	require.NoError(t, teams.RemoveMember(t.Context(), "research", alice.ID, false))
	assert.ErrorIs(t, teams.RemoveMember(t.Context(), "research", alice.ID, false), aigateway.ErrNoMember)
	require.NoError(t, s.DeleteUser(t.Context(), bob.ID, agree))
	members, _, err = teams.Members(t.Context(), "research", all)
	require.NoError(t, err)
	assert.Empty(t, members, "deleted users are members of nothing")
}

// A key of a team without its owner among the members would be out of reach for those who
// administrate it as a member.
func keysBelongToMembers(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	early := teamKey(bob, "early")
	require.NoError(t, s.CreateKey(t.Context(), early, plenty), "the limit is that of no team yet")
	assert.Nil(t, s.Lookup(early.Digest).Team)
	team := NewTeam(t, s, "research")
	assert.Equal(t, team, s.Lookup(early.Digest).Team)
	members, _, err := s.Teams().Members(t.Context(), "research", all)
	require.NoError(t, err)
	assert.Equal(t, []aigateway.Member{{UserID: bob.ID, User: "bob", Role: aigateway.RoleUser}}, members, "the owner of an earlier key")

	assert.ErrorIs(t, s.CreateKey(t.Context(), teamKey(alice, "laptop"), plenty), aigateway.ErrNoMember)
	other := NewKey(t, s, alice.ID, "other")
	join := func(k *aigateway.StoredKey) error { k.Bounds.Limit = "research"; return nil }
	_, err = s.ChangeKey(t.Context(), alice.ID, other.ID, join)
	assert.ErrorIs(t, err, aigateway.ErrNoMember)
	require.NoError(t, s.Teams().SetMember(t.Context(), "research", alice.ID, false, plenty))
	_, err = s.ChangeKey(t.Context(), alice.ID, other.ID, join)
	require.NoError(t, err)
	list, total, err := s.Teams().Keys(t.Context(), "research", aigateway.Page{Limit: 9, Search: "OTH"})
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, other.ID, list[0].ID)
	_, _, err = s.Teams().Keys(t.Context(), "none", all)
	assert.ErrorIs(t, err, aigateway.ErrNotFound)
}

func keysOfTeamsAreNotLost(t *testing.T, database Database) {
	s := database.Open(t)
	alice, bob := NewUser(t, s, "alice", aigateway.RoleUser), NewUser(t, s, "bob", aigateway.RoleUser)
	NewTeam(t, s, "research", alice, bob)
	own, hers, his := NewKey(t, s, alice.ID, "own"), teamKey(alice, "hers"), teamKey(bob, "his")
	require.NoError(t, s.CreateKey(t.Context(), hers, plenty))
	require.NoError(t, s.CreateKey(t.Context(), his, plenty))

	assert.ErrorIs(t, s.Teams().RemoveMember(t.Context(), "research", alice.ID, false), aigateway.ErrHasKeys)
	assert.ErrorIs(t, s.Teams().Delete(t.Context(), "research", false), aigateway.ErrHasKeys)
	assert.NotNil(t, s.Lookup(hers.Digest))
	require.NoError(t, s.Teams().RemoveMember(t.Context(), "research", alice.ID, true))
	assert.Nil(t, s.Lookup(hers.Digest), "at once")
	assert.NotNil(t, s.Lookup(own.Digest))
	assert.NotNil(t, s.Lookup(his.Digest))
	require.NoError(t, s.Teams().Delete(t.Context(), "research", true))
	assert.Nil(t, s.Lookup(his.Digest), "at once")
	assert.NotNil(t, s.Lookup(own.Digest))
}

func changesOfTeams(t *testing.T, database Database) {
	here, there := database.Open(t), store.New(database(), nop)
	alice := NewUser(t, here, "alice", aigateway.RoleUser)
	NewTeam(t, here, "research", alice)
	key := teamKey(alice, "laptop")
	require.NoError(t, here.CreateKey(t.Context(), key, plenty))
	there.Open()
	Current(t, there)
	assert.True(t, there.Lookup(key.Digest).Allows("claude-opus"))
	assert.False(t, there.Lookup(key.Digest).Allows("gpt-5"), "the models of the team are a bound")

	_, err := here.Teams().Change(t.Context(), "research", func(team *aigateway.Team) error {
		team.Models, team.Rules = []aigateway.Pattern{"gpt-*"}, aigateway.LimitRules{}
		return nil
	})
	require.NoError(t, err)
	assert.True(t, here.Lookup(key.Digest).Allows("gpt-5"), "at once")
	require.Eventually(t, func() bool { return there.Lookup(key.Digest).Allows("gpt-5") }, patience, tick)
	assert.Nil(t, there.Lookup(key.Digest).Team.Limit())
	require.NoError(t, there.Close())
}

// Without what bounds it, a team would be allowed too much.
func damagedTeams(t *testing.T, database Database) {
	for column, value := range map[string]string{"models": `claude-*`, "rules": `{"concurrent":-1}`} {
		s := database.Open(t)
		user := NewUser(t, s, "user of "+column, aigateway.RoleUser)
		if _, err := s.Teams().Team(t.Context(), "research"); err != nil {
			NewTeam(t, s, "research")
		}
		require.NoError(t, s.Teams().SetMember(t.Context(), "research", user.ID, false, plenty))
		key, own := teamKey(user, column), NewKey(t, s, user.ID, "own of "+column)
		require.NoError(t, s.CreateKey(t.Context(), key, plenty))
		assert.False(t, s.Lookup(key.Digest).Disabled)
		db, err := database().Connect(t.Context())
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE gateway_teams SET `+column+` = '`+value+`'`)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE gateway_state SET revision = revision + 1`)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		require.Eventually(t, func() bool { return s.Lookup(key.Digest).Disabled }, patience, tick)
		assert.False(t, s.Lookup(own.Digest).Disabled)
		_, err = s.Teams().Change(t.Context(), "research", func(team *aigateway.Team) error {
			team.Models, team.Rules = nil, aigateway.LimitRules{}
			return nil
		})
		require.NoError(t, err, "a change mends it")
		assert.False(t, s.Lookup(key.Digest).Disabled)
	}
}
