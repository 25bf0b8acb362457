package restore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

var errNoDatabase = errors.New("no database")

// slow counts the calls of fill, each of which takes five seconds.
type slow struct {
	err   error
	calls int
}

func (s *slow) fill(ctx context.Context) error {
	s.calls++
	select {
	case <-time.After(5 * time.Second):
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// If the ledger did not answer, each waiting request once read it again, one after the
// other.
func TestRequestsOfOneKeyShareACall(t *testing.T) {
	for name, err := range map[string]error{"success": nil, "failure": errNoDatabase} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g Group[string]
				s, began := slow{err: err}, time.Now()
				var all sync.WaitGroup
				for range 30 {
					all.Go(func() { assert.Equal(t, err, g.Do(t.Context(), "a", s.fill)) })
				}
				all.Wait()
				assert.Equal(t, 1, s.calls)
				assert.Equal(t, 5*time.Second, time.Since(began))
				time.Sleep(Rest)
				synctest.Wait()
				assert.Empty(t, g.calls)
			})
		})
	}
}

func TestOtherKeysDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		var other sync.WaitGroup
		other.Go(func() { assert.NoError(t, g.Do(t.Context(), "a", new(slow).fill)) })
		synctest.Wait()
		began := time.Now()
		assert.NoError(t, g.Do(t.Context(), "b", func(context.Context) error { return nil }))
		assert.Equal(t, began, time.Now())
		other.Wait()
	})
}

// The read of the ledger once ended when its first client left, and all waiting requests
// were refused.
func TestAClientThatLeavesEndsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		var s slow
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		go func() { assert.ErrorIs(t, g.Do(ctx, "a", s.fill), context.DeadlineExceeded) }()
		synctest.Wait()
		assert.NoError(t, g.Do(t.Context(), "a", s.fill))
		assert.Equal(t, 1, s.calls)
	})
}

func TestAFailureIsTheAnswerForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		s := slow{err: errNoDatabase}
		for range 3 {
			assert.Equal(t, errNoDatabase, g.Do(t.Context(), "a", s.fill))
		}
		assert.Equal(t, 1, s.calls)
		time.Sleep(Rest)
		synctest.Wait()
		s.err = nil
		assert.NoError(t, g.Do(t.Context(), "a", s.fill))
		assert.Equal(t, 2, s.calls)
	})
}

// A panic once never ended the call: all later requests waited until their clients left.
func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		err := g.Do(t.Context(), "a", func(context.Context) error { panic("a bug") })
		assert.ErrorContains(t, err, "panic: a bug\n")
		assert.ErrorContains(t, err, "restore_test.go", "the stack")
		time.Sleep(Rest)
		synctest.Wait()
		assert.NoError(t, g.Do(t.Context(), "a", new(slow).fill))
	})
}

func TestACallEndsWithinTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string]
		began := time.Now()
		assert.ErrorIs(t, g.Do(t.Context(), "a", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}), context.DeadlineExceeded)
		assert.Equal(t, bound, time.Since(began))
	})
}
