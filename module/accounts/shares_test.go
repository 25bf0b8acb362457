package accounts

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// crowded is a store for which too many changes are waiting.
type crowded struct{ aigateway.Store }

func (crowded) CreateSession(context.Context, *aigateway.Session, int, func(*aigateway.User) error) error {
	return aigateway.ErrBusy
}

// Too many concurrent changes were once reported as an outage of the store, in the
// answer and in the log.
func TestTooManyChangesAreNotAnOutage(t *testing.T) {
	s := loginSite(t, nil)
	s.people.Store = crowded{s.people.Store}
	answer := s.ask(testRequest{call: loginCall, body: credentials("alice", password)})
	assert.Equal(t, http.StatusServiceUnavailable, answer.status)
	assert.Equal(t, "1", answer.header.Get("Retry-After"))
	assert.Equal(t, failure("too many changes at once, try again"), answer.body)
	for _, entry := range s.logs.All() {
		assert.Less(t, entry.Level, zapcore.ErrorLevel, entry.Message)
	}
}

// slow is a store whose changes of keys wait for a gate.
type slow struct {
	aigateway.Store
	gate    chan struct{}
	waiting atomic.Int64
}

func (s *slow) CreateKey(ctx context.Context, key *aigateway.StoredKey, most int) error {
	s.waiting.Add(1)
	<-s.gate
	return s.Store.CreateKey(ctx, key, most)
}

// The changes of one user could once fill the queue of the store, so that the changes of
// all other users were refused.
func TestOneUserCannotFillTheQueueOfTheStore(t *testing.T) {
	const crowd = 60
	s := loginSite(t, nil)
	s.user("bob", aigateway.RoleUser)
	alice, bob := s.token("alice"), s.token("bob")
	store := &slow{Store: s.people.Store, gate: make(chan struct{})}
	s.people.Store = store
	answers := make(chan *httptest.ResponseRecorder, crowd+1)
	for range crowd {
		s.askAside(testRequest{call: newKeyCall, body: bodies[newKeyCall], token: alice}, answers)
	}
	for range crowd - 10 {
		answer := <-answers
		assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
		assert.Equal(t, "1", answer.Header().Get("Retry-After"))
		assert.Equal(t, failure("too many changes at once, try again"), answer.Body.String())
	}
	s.askAside(testRequest{call: newKeyCall, body: bodies[newKeyCall], token: bob}, answers)
	require.Eventually(t, func() bool { return store.waiting.Load() == 10+1 }, time.Minute, time.Millisecond)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: "GET /api/token/", token: alice}).status, "reading is not a change")
	close(store.gate)
	for range 10 + 1 {
		assert.Equal(t, http.StatusOK, (<-answers).Code)
	}
	own := s.machineCall()
	own.User = &aigateway.User{ID: 1, Role: aigateway.RoleAdmin}
	for range 10 {
		_, err := s.people.BeginChange(own)
		assert.NoError(t, err, "all are free again")
	}
}
