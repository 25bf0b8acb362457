package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// actor is an actor of changes.
var actor = aigateway.Actor{Name: "user/root", Role: aigateway.RoleRoot, Address: "192.0.2.1", Request: "r1", Session: 1}

func entries(t *testing.T, s *store.Store, q aigateway.AuditQuery) []aigateway.AuditEntry {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	rows, err := s.AuditEntries(t.Context(), q)
	require.NoError(t, err)
	return rows
}

// everyChange makes each kind of change once, with secrets whose names begin with "secret".
func everyChange(t *testing.T, ctx context.Context, s *store.Store) {
	user := &aigateway.User{Name: "alice", DisplayName: "Alice", Role: aigateway.RoleUser, Password: "secret-hash-1"}
	require.NoError(t, s.CreateUser(ctx, user))
	_, err := s.ChangeUser(ctx, user.ID, 0, func(u *aigateway.User) error { u.Password = "secret-hash-2"; return nil })
	require.NoError(t, err)
	key := &aigateway.StoredKey{UserID: user.ID, Name: "laptop", Hint: "sk-****", Digest: sha256.Sum256([]byte("secret-key"))}
	require.NoError(t, s.CreateKey(ctx, key, plenty))
	_, err = s.ChangeKey(ctx, user.ID, key.ID, func(k *aigateway.StoredKey) error { k.Disabled = true; return nil })
	require.NoError(t, err)
	require.NoError(t, s.DeleteKey(ctx, user.ID, key.ID))
	for _, token := range []string{"secret-token-1", "secret-token-2", "secret-token-3"} {
		session := &aigateway.Session{UserID: user.ID, Digest: sha256.Sum256([]byte(token)), Expires: time.Now().Add(time.Hour)}
		require.NoError(t, s.CreateSession(ctx, session, plenty, agree))
	}
	require.NoError(t, s.DeleteSession(ctx, user.ID, 1))
	require.NoError(t, s.DeleteSession(ctx, user.ID, 2))
	require.NoError(t, s.DeleteSessionsOf(ctx, user.ID, 0))
	require.NoError(t, s.Audit(ctx, aigateway.AuditEntry{Action: "login.fail", Failed: true}))
	require.NoError(t, s.AuditLoad(ctx, map[string]string{"digest": "a"}))
	teams := s.Teams()
	require.NoError(t, teams.Create(ctx, &aigateway.Team{Name: "search", Models: []aigateway.Pattern{"a"}}))
	_, err = teams.Change(ctx, "search", func(team *aigateway.Team) error { team.Models = nil; return nil })
	require.NoError(t, err)
	require.NoError(t, teams.SetMember(ctx, "search", user.ID, true, plenty))
	require.NoError(t, teams.SetMember(ctx, "search", user.ID, true, plenty)) // no change
	key.Bounds.Limit = "search"
	require.NoError(t, s.CreateKey(ctx, key, plenty))
	require.NoError(t, teams.RemoveMember(ctx, "search", user.ID, true))
	require.NoError(t, teams.Delete(ctx, "search", true))
	require.NoError(t, s.DeleteUser(ctx, user.ID, agree))
}

// Raw keys once were in the audit log of another gateway.
func changesAreRecorded(t *testing.T, database Database) {
	s := database.Open(t)
	everyChange(t, aigateway.WithActor(t.Context(), actor), s)
	rows := entries(t, s, aigateway.AuditQuery{})
	var actions []string
	for i := range rows {
		row := rows[len(rows)-1-i]
		actions = append(actions, row.Action+" "+row.Object)
		assert.Equal(t, int64(i+1), row.ID)
		assert.Equal(t, []any{actor.Name, actor.Role, actor.Address, actor.Request}, []any{row.Actor.Name, row.Role, row.Address, row.Request})
		assert.WithinDuration(t, time.Now(), row.At, time.Hour)
		assert.Equal(t, row.Action == "login.fail", row.Failed)
	}
	assert.Equal(t, []string{
		"user.create user/alice", "user.password user/alice", "key.create key/1", "key.disable key/1", "key.delete key/1",
		"login.ok user/alice", "login.ok user/alice", "login.ok user/alice", "logout user/alice", "session.end user/alice", "session.end_all user/alice",
		"login.fail ", "config.load config",
		"team.create team/search", "team.update team/search", "team.member team/search", "key.create key/2", "team.member team/search", "team.delete team/search",
		"user.delete user/alice",
	}, actions)
	assert.Equal(t, []aigateway.AuditChange{{Field: "member alice", Before: "admin"}, {Field: "keys", Before: "2"}}, rows[2].Changes)
	text, err := json.Marshal(rows)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "secret")
	for _, secret := range []string{"secret-key", "secret-token-1"} {
		assert.NotContains(t, string(text), fmt.Sprintf("%x", sha256.Sum256([]byte(secret))), "a whole digest finds a key")
	}
}

// withoutLog breaks the audit log of a database.
func withoutLog(t *testing.T, backend database.Backend) {
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `DROP TABLE gateway_audit`)
	require.NoError(t, err)
	require.NoError(t, backend.Disconnect(db))
	require.NoError(t, backend.Close())
}

// Every change is refused, and what it would have changed is as before.
func unrecordedChangesAreRefused(t *testing.T, database Database) {
	s := database.Open(t)
	alice := NewUser(t, s, "alice", aigateway.RoleRoot)
	bob := NewUser(t, s, "bob", aigateway.RoleUser)
	key, session := NewKey(t, s, alice.ID, "laptop"), NewSession(t, s, alice.ID, "token", time.Hour)
	require.NoError(t, s.Teams().Create(t.Context(), &aigateway.Team{Name: "search"}))
	Current(t, s)
	withoutLog(t, database())
	for name, change := range map[string]func(context.Context) error{
		"CreateUser": func(ctx context.Context) error { return s.CreateUser(ctx, &aigateway.User{Name: "carol"}) },
		"ChangeUser": func(ctx context.Context) error {
			_, err := s.ChangeUser(ctx, alice.ID, 0, func(u *aigateway.User) error { u.DisplayName = "x"; return nil })
			return err
		},
		"DeleteUser": func(ctx context.Context) error { return s.DeleteUser(ctx, bob.ID, agree) },
		"CreateKey": func(ctx context.Context) error {
			return s.CreateKey(ctx, &aigateway.StoredKey{UserID: alice.ID, Name: "other"}, plenty)
		},
		"ChangeKey": func(ctx context.Context) error {
			_, err := s.ChangeKey(ctx, alice.ID, key.ID, func(k *aigateway.StoredKey) error { k.Disabled = true; return nil })
			return err
		},
		"DeleteKey": func(ctx context.Context) error { return s.DeleteKey(ctx, alice.ID, key.ID) },
		"CreateSession": func(ctx context.Context) error {
			return s.CreateSession(ctx, &aigateway.Session{UserID: alice.ID}, plenty, agree)
		},
		"DeleteSession":    func(ctx context.Context) error { return s.DeleteSession(ctx, alice.ID, session.ID) },
		"DeleteSessionsOf": func(ctx context.Context) error { return s.DeleteSessionsOf(ctx, alice.ID, 0) },
		"Teams.Create":     func(ctx context.Context) error { return s.Teams().Create(ctx, &aigateway.Team{Name: "team2"}) },
		"Teams.SetMember":  func(ctx context.Context) error { return s.Teams().SetMember(ctx, "search", bob.ID, true, plenty) },
		"Teams.Delete":     func(ctx context.Context) error { return s.Teams().Delete(ctx, "search", true) },
		"Audit":            func(ctx context.Context) error { return s.Audit(ctx, aigateway.AuditEntry{Action: "a"}) },
		"AuditLoad":        func(ctx context.Context) error { return s.AuditLoad(ctx, map[string]string{"a": "b"}) },
	} {
		assert.Error(t, change(t.Context()), name)
	}
	users, _, err := s.Users(t.Context(), all)
	require.NoError(t, err)
	require.Len(t, users, 2)
	assert.Equal(t, "The alice", users[0].DisplayName)
	assert.NotNil(t, s.Lookup(key.Digest))
	assert.False(t, s.Lookup(key.Digest).Disabled)
	_, keys, err := s.Keys(t.Context(), alice.ID, all)
	require.NoError(t, err)
	assert.Equal(t, 1, keys)
	_, teams, err := s.Teams().List(t.Context(), all)
	require.NoError(t, err)
	assert.Equal(t, 1, teams)
	_, members, err := s.Teams().Members(t.Context(), "search", all)
	require.NoError(t, err)
	assert.Zero(t, members)
	sessions, err := s.SessionsOf(t.Context(), alice.ID)
	require.NoError(t, err)
	assert.Len(t, sessions, 1)

	s.UseAudit(aigateway.AuditOptions{Lenient: true})
	_, err = s.ChangeKey(t.Context(), alice.ID, key.ID, func(k *aigateway.StoredKey) error { k.Disabled = true; return nil })
	require.NoError(t, err)
	assert.True(t, s.Lookup(key.Digest).Disabled, "with lenient options, the change is made")
}

// A row that can be changed is no evidence.
func rowsStay(t *testing.T, database Database) {
	s := database.Open(t)
	NewUser(t, s, "alice", aigateway.RoleRoot)
	backend := database()
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `UPDATE gateway_audit SET actor = 'user/mallory'`)
	assert.ErrorContains(t, err, "rows of gateway_audit cannot be changed")
	require.NoError(t, backend.Disconnect(db))
	require.NoError(t, backend.Close())
	assert.Len(t, entries(t, s, aigateway.AuditQuery{}), 1)
}

// Rows are found by their columns; a % in a filter is no pattern.
func rowsAreFound(t *testing.T, database Database) {
	s := database.Open(t)
	everyChange(t, aigateway.WithActor(t.Context(), actor), s)
	for q, want := range map[aigateway.AuditQuery]int{
		{Actor: "user"}: 20, {Actor: "user/root"}: 20, {Actor: "user/"}: 0, {Actor: "us"}: 0, {Actor: "%"}: 0, {Actor: "user/roo_"}: 0,
		{Object: "key"}: 4, {Object: "key/1"}: 3, {Object: "key/11"}: 0, {Action: "key"}: 4, {Action: "key.create"}: 2, {Action: "logout"}: 1,
		{Before: 4}: 3, {Limit: 2}: 2, {From: time.Now().Add(time.Hour)}: 0, {To: time.Now().Add(-time.Hour)}: 0,
		{From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Action: "login"}: 4,
	} {
		assert.Len(t, entries(t, s, q), want, "%+v", q)
	}
}

// A load once was recorded without what had changed.
func loadsAreCompared(t *testing.T, database Database) {
	s := database.Open(t)
	load := func(host string, parts map[string]string) []aigateway.AuditChange {
		require.NoError(t, s.AuditLoad(aigateway.WithActor(t.Context(), aigateway.Actor{Name: aigateway.ActorConfig + host}), parts))
		return entries(t, s, aigateway.AuditQuery{Action: "config.load", Limit: 1})[0].Changes
	}
	assert.Equal(t, []aigateway.AuditChange{{Field: "digest", After: "1"}, {Field: "key a", After: "x"}}, load("h1", map[string]string{"digest": "1", "key a": "x"}))
	assert.Empty(t, load("h1", map[string]string{"digest": "1", "key a": "x"}))
	assert.Empty(t, load("h2", map[string]string{"digest": "1", "key a": "x"}), "a new machine with the configuration of another")
	assert.Equal(t, []aigateway.AuditChange{{Field: "digest", Before: "1", After: "2"}, {Field: "key a", Before: "x"}, {Field: "key b", After: "y"}},
		load("h2", map[string]string{"digest": "2", "key b": "y"}))
	assert.Empty(t, load("h1", map[string]string{"digest": "1", "key a": "x"}), "each machine is compared with itself")
	many := map[string]string{"digest": "3"}
	for i := range 1000 {
		many[fmt.Sprint("key ", i)] = "z"
	}
	changes := load("h1", many)
	assert.Len(t, changes, 201)
	assert.Equal(t, "802 more", changes[200].After)
}

// A value of any size once made rows of any size.
func longValuesAreCut(t *testing.T, database Database) {
	s := database.Open(t)
	long := strings.Repeat("ä", 5000)
	require.NoError(t, s.Audit(t.Context(), aigateway.AuditEntry{Action: "a", Changes: []aigateway.AuditChange{{Field: "f", Before: long, After: "x"}}}))
	change := entries(t, s, aigateway.AuditQuery{})[0].Changes[0]
	assert.Less(t, len(change.Before), 1100)
	assert.Contains(t, change.Before, "… sha256:")
	assert.Equal(t, "x", change.After)
}

// Rows stay until the options are known: those of the configuration may keep them for longer.
func oldRowsEnd(t *testing.T, database Database) {
	s := database.Open(t)
	Current(t, s)
	everyChange(t, aigateway.WithActor(t.Context(), actor), s)
	backend := database()
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO gateway_audit (at, actor, role, address, request, action, object, changes, failed) VALUES (1, 'user/old', 1, '', '', 'a', '', '[]', false)`)
	require.NoError(t, err)
	require.NoError(t, backend.Disconnect(db))
	require.NoError(t, backend.Close())
	require.Len(t, entries(t, s, aigateway.AuditQuery{Actor: "user/old"}), 1)
	s.UseAudit(aigateway.AuditOptions{Keep: 24 * time.Hour})
	require.Eventually(t, func() bool { return len(entries(t, s, aigateway.AuditQuery{Actor: "user/old"})) == 0 }, patience, tick)
	assert.Len(t, entries(t, s, aigateway.AuditQuery{}), 20)
}
