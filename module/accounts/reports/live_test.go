package reports

import (
	"context"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// watched is a store with one user, whose records never come.
type watched struct {
	aigateway.Store
	accounting.LedgerReader

	mu   sync.Mutex      // guards the fields below
	user *aigateway.User // nil: the session has ended
	team membership
}

func (w *watched) Session(context.Context, aigateway.Digest) (*aigateway.Session, *aigateway.User, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.user == nil {
		return nil, nil, aigateway.ErrNotFound
	}
	return &aigateway.Session{ID: 1, Expires: time.Now().Add(time.Hour)}, new(*w.user), nil
}

func (w *watched) Teams() aigateway.Teams {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.team
}

func (w *watched) Location(context.Context) (*time.Location, error) { return time.UTC, nil }

func (w *watched) Watch() (<-chan []accounting.Record, func(), error) {
	return make(chan []accounting.Record), func() {}, nil
}

// membership is the only team, in which the user is.
type membership struct {
	aigateway.Teams
	admin bool
}

func (m membership) Of(context.Context, int64) ([]aigateway.Membership, error) {
	return []aigateway.Membership{{Team: aigateway.Team{Name: "research"}, Admin: m.admin}}, nil
}

func (m membership) Team(_ context.Context, name string) (*aigateway.Team, error) {
	return &aigateway.Team{Name: name}, nil
}

// watch returns the answer to a request for a stream with a query, which ends with its context
// and with the channel.
func watch(ctx context.Context, t *testing.T, store *watched, query string, ended <-chan struct{}) answer.Written {
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/records/live"+query, nil)
	r.Header.Set("Authorization", "Bearer "+call.TokenPrefix+"x")
	c := call.New(httptest.NewRecorder(), r, store, nil)
	c.Access = call.LoggedIn
	require.NoError(t, c.Admit())
	stream, err := Reports{Store: store, Ended: ended, Streams: throttle.NewShares(1)}.Live(c)
	require.NoError(t, err)
	return stream.(answer.Written)
}

// The servers wait for open streams: one that outlives its session, its rights or its
// configuration would show records without a right, or delay a restart. A change of the role ends
// no session: the stream of an administrator went on with the records of all users, whatever it
// selected. One of a team would go on for as long as the session of someone who has left.
func TestAStreamEndsWithItsSessionItsRightsAndItsConfiguration(t *testing.T) {
	lose := func(s *watched) { s.user.Role, s.team.admin = aigateway.RoleUser, true }
	for name, c := range map[string]struct {
		role   aigateway.Role
		query  string
		change func(s *watched, end, leave func())
	}{
		"configuration": {aigateway.RoleUser, "", func(_ *watched, end, _ func()) { end() }},
		"client":        {aigateway.RoleUser, "", func(_ *watched, _, leave func()) { leave() }},
		"session":       {aigateway.RoleUser, "", func(s *watched, _, _ func()) { s.user = nil }},
		"team":          {aigateway.RoleUser, "?team=research", func(s *watched, _, _ func()) { s.team.admin = false }},
		"role":          {aigateway.RoleAdmin, "", func(s *watched, _, _ func()) { lose(s) }},
		"role, user":    {aigateway.RoleAdmin, "?user=victim", func(s *watched, _, _ func()) { lose(s) }},
		"role, team":    {aigateway.RoleAdmin, "?team=research", func(s *watched, _, _ func()) { lose(s) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := &watched{user: &aigateway.User{ID: 1, Name: "alice", Role: c.role}, team: membership{admin: true}}
			ended, ctx := make(chan struct{}), t.Context()
			ctx, leave := context.WithCancel(ctx)
			done := make(chan struct{})
			stream := watch(ctx, t, store, c.query, ended)
			go func() { // ends with the stream
				defer close(done)
				stream.Write(httptest.NewRecorder())
			}()
			time.Sleep(rightsCheck + time.Second)
			synctest.Wait()
			select {
			case <-done:
				t.Error(name, "the stream ends before anything has changed")
			default:
			}
			store.mu.Lock()
			c.change(store, func() { close(ended) }, leave)
			store.mu.Unlock()
			time.Sleep(rightsCheck)
			synctest.Wait()
			select {
			case <-done:
			default:
				t.Error(name, "the stream goes on")
			}
			leave()
			<-done
		})
	}
}
