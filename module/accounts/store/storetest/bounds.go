package storetest

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Keys were once counted before the transaction that created one: 150 concurrent
// requests gave a user 248 keys, with a limit of 100.
func boundsHold(t *testing.T, database Database) {
	const limit, wanted = 5, 20
	stores := []aigateway.Store{database.Open(t), database.Open(t)}
	alice, bob := NewUser(t, stores[0], "alice", aigateway.RoleUser), NewUser(t, stores[0], "bob", aigateway.RoleUser)
	bobs, session := NewKey(t, stores[0], bob.ID, "bob's"), NewSession(t, stores[0], bob.ID, "bob's", time.Hour)
	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range wanted {
		s, digest := stores[i%len(stores)], sha256.Sum256(fmt.Append(nil, i))
		wg.Go(func() {
			err := s.CreateKey(background(), &aigateway.StoredKey{UserID: alice.ID, Digest: digest}, limit)
			if err == nil {
				made.Add(1)
			} else {
				assert.ErrorIs(t, err, aigateway.ErrTooMany)
			}
			assert.NoError(t, s.CreateSession(background(), &aigateway.Session{
				UserID: alice.ID, Digest: digest, Expires: time.Now().Add(time.Hour),
			}, limit, agree))
		})
	}
	wg.Wait()
	assert.EqualValues(t, limit, made.Load())
	keys, total, err := stores[0].Keys(t.Context(), alice.ID, all)
	require.NoError(t, err)
	assert.Equal(t, limit, total)
	assert.Len(t, sessionsOf(t, stores[0], alice.ID), limit, "the oldest sessions have ended")

	require.NoError(t, stores[0].DeleteKey(t.Context(), alice.ID, keys[0].ID))
	assert.NoError(t, stores[0].CreateKey(t.Context(), &aigateway.StoredKey{UserID: alice.ID}, limit), "there is room again")
	_, err = stores[0].Key(t.Context(), bob.ID, bobs.ID)
	assert.NoError(t, err)
	assert.Equal(t, []aigateway.Session{*session}, sessionsOf(t, stores[0], bob.ID), "sessions of another user do not end")
}

// Changes that had waited for five seconds were once reported as an outage of the store,
// in the answer and in the log.
func tooManyWriters(t *testing.T, database Database) {
	const many = 100
	s, logs := Observed(t, database())
	alice := NewUser(t, s, "alice", aigateway.RoleUser)
	Current(t, s)
	holding, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := s.ChangeUser(background(), alice.ID, 0, func(*aigateway.User) error {
			close(holding)
			<-release
			return nil
		})
		assert.NoError(t, err)
	})
	<-holding
	failures := make(chan error, many)
	for range many {
		wg.Go(func() { failures <- s.DeleteSessionsOf(background(), alice.ID, 0) })
	}
	first := <-failures
	assert.ErrorIs(t, first, aigateway.ErrBusy, "the first failure comes at once")
	assert.NotErrorIs(t, first, aigateway.ErrUnavailable)
	_, err := s.User(t.Context(), alice.ID)
	assert.NoError(t, err, "readers do not wait")
	close(release)
	wg.Wait()
	close(failures)
	done := 0
	for err := range failures {
		if err == nil {
			done++
		} else {
			assert.ErrorIs(t, err, aigateway.ErrBusy)
		}
	}
	assert.Positive(t, done, "writers that had a place in the line")
	assert.NoError(t, s.DeleteSessionsOf(t.Context(), alice.ID, 0), "the line is empty again")
	assert.Zero(t, logs.FilterMessageSnippet("cannot be written").Len())
}
