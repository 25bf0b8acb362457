// Package storetest contains the tests that every store must pass, for any database.
// Only tests import it.
package storetest

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const (
	// patience is how long a test waits before it fails.
	patience = time.Minute
	tick     = 5 * time.Millisecond
)

// Database returns a new backend of the same database at each call. Stores with different
// backends are as separate as the stores of two processes.
type Database func() database.Backend

// Open opens a store of the database until the test ends.
func (d Database) Open(t testing.TB) *store.Store {
	return OpenLogged(t, d(), zap.NewNop())
}

func nop() *zap.Logger { return zap.NewNop() }

// OpenLogged is Open with a logger.
func OpenLogged(t testing.TB, backend database.Backend, logger *zap.Logger) *store.Store {
	s := store.New(backend, func() *zap.Logger { return logger })
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	s.Open()
	return s
}

// Current waits until a store is complete.
func Current(t testing.TB, s *store.Store) {
	t.Helper()
	require.Eventually(t, s.Complete, patience, tick)
}

// Run runs the tests of every store, each with a new database.
func Run(t *testing.T, fresh func(testing.TB) Database) {
	for _, test := range []struct {
		claim string
		run   func(*testing.T, Database)
	}{
		{"users are stored unchanged", usersAreKept},
		{"names of users are unique", namesAreUnique},
		{"rules of users are found by their names", rulesOfUsers},
		{"users are found by a part of their name", usersAreFound},
		{"lists are ordered by the fields of the API", listsAreOrdered},
		{"a change of a user is complete or fails", userChanges},
		{"the last root user stays", lastRootStays},
		{"two root users cannot remove each other at once", rootsRace},
		{"a deleted user leaves nothing", deletedUserLeavesNothing},
		{"sessions are kept until they are revoked", sessionsAreKept},
		{"expired sessions are forgotten", expiredSessionsAreForgotten},
		{"the user is checked before a session is created", sessionsAreChecked},
		{"a new password ends sessions, as disabling a user does", changesEndSessions},
		{"a change of a user that cannot end its sessions fails", changesWithoutEndingSessionsFail},
		{"identities are linked with one user", identitiesAreLinked},
		{"a new person gets one account", personsAreCreatedOnce},
		{"memberships follow groups if they may", membershipsFollowGroups},
		{"a confirmed device has a key, and ends with it", devicesAreConfirmed},
		{"a new access token of another process is found at once", accessTokensAreFoundElsewhere},
		{"devices end, answered or not", devicesEnd},
		{"a code is answered once", codesAreAnsweredOnce},
		{"keys are stored unchanged", keysAreKept},
		{"a rotated key has two secrets until a time", rotatedKeys},
		{"keys of others do not exist", keysOfOthers},
		{"keys are found by a part of their name", keysAreFound},
		{"a change of a key takes effect at once", changesAreSeenAtOnce},
		{"the keys of a user have one subject", keysOfAUserHaveOneSubject},
		{"a change of one user leaves the keys of others", changesOfOneUser},
		{"keys of disabled users are disabled", keysOfDisabledUsers},
		{"a change of another process takes effect", changesElsewhere},
		{"a database that was restored and changed is read again", restoredElsewhere},
		{"a new key in a restored database has no id of a lost one", idsAfterARestore},
		{"a database that was emptied is an outage", emptiedElsewhere},
		{"the last use of a key is stored without a new revision", usesAreKept},
		{"a key whose restrictions cannot be read is disabled", damagedRestrictions},
		{"teams are stored unchanged", teamsAreKept},
		{"members of teams are stored unchanged", membersAreKept},
		{"the keys of a team belong to its members", keysBelongToMembers},
		{"a team or a member with keys is deleted on purpose", keysOfTeamsAreNotLost},
		{"a change of a team takes effect, elsewhere too", changesOfTeams},
		{"the keys of a team that cannot be read are disabled", damagedTeams},
		{"each change has a row of the audit log, without a secret", changesAreRecorded},
		{"X132 a change whose row cannot be written is refused", unrecordedChangesAreRefused},
		{"rows of the audit log cannot be changed", rowsStay},
		{"rows of the audit log are found by their columns", rowsAreFound},
		{"a configuration is compared with the one before", loadsAreCompared},
		{"rows of the audit log are deleted when their time is over", oldRowsEnd},
		{"long values of the audit log are cut", longValuesAreCut},
		{"any text can be stored", anyText},
		{"concurrent calls do not exceed bounds", boundsHold},
		{"too many concurrent writers are not an outage", tooManyWriters},
		{"concurrent writers lose no change", manyWriters},
		{"a caller that leaves gets its own error, not an outage", callerThatLeaves},
		{"methods work before Open and fail after Close", beforeAndAfter},
	} {
		t.Run(test.claim, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}

// NewUser adds a user.
func NewUser(t testing.TB, s aigateway.Store, name string, role aigateway.Role) *aigateway.User {
	t.Helper()
	user := &aigateway.User{Name: name, DisplayName: "The " + name, Role: role, Password: "hash of " + name}
	require.NoError(t, s.CreateUser(t.Context(), user))
	return user
}

// NewKey adds a key with every restriction.
func NewKey(t testing.TB, s aigateway.Store, user int64, name string) *aigateway.StoredKey {
	t.Helper()
	key := &aigateway.StoredKey{
		UserID: user, Name: name, Hint: "sk-1234****abcd", Digest: sha256.Sum256([]byte(name)),
		Expires: time.UnixMilli(4102444800123).UTC(),
		Bounds: aigateway.KeyBounds{
			Models: []string{"claude-*", "gpt-5"}, Limit: "small",
			Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")},
			Rules:    aigateway.LimitRules{Concurrent: 8}, Tags: []aigateway.Tag{{Name: "team", Value: "search"}},
		},
	}
	require.NoError(t, s.CreateKey(t.Context(), key, plenty))
	return key
}

// NewSession adds a session.
func NewSession(t testing.TB, s aigateway.Store, user int64, token string, lasts time.Duration) *aigateway.Session {
	t.Helper()
	session := &aigateway.Session{
		UserID: user, Digest: sha256.Sum256([]byte(token)), Expires: time.Now().Add(lasts).UTC().Truncate(time.Millisecond),
		Address: "192.0.2.1", Agent: "test/1",
	}
	require.NoError(t, s.CreateSession(t.Context(), session, plenty, agree))
	return session
}

// plenty is a limit that no test reaches.
const plenty = 1 << 20

// all is a page with all entries.
var all = aigateway.Page{Limit: 1000}

func background() context.Context { return context.Background() }
