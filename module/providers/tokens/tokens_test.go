package tokens

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server gives tokens t1, t2, … that are valid for an hour.
type server struct {
	Cache[string, string]
	fetched int
	delay   time.Duration
	err     error
	same    bool          // always the same token
	life    time.Duration // an hour if 0
}

func (s *server) fetch(ctx context.Context) (Token[string], error) {
	s.fetched++
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return Token[string]{}, ctx.Err()
	}
	value := "t" + strconv.Itoa(s.fetched)
	if s.same {
		value = "t"
	}
	return Token[string]{Value: value, Ends: time.Now().Add(cmp.Or(s.life, time.Hour))}, s.err
}

func (s *server) ask(t *testing.T, refused string) string {
	token, err := s.Token(t.Context(), "id", refused, s.fetch)
	require.NoError(t, err)
	return token
}

func TestWaitingRequestsShareOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{delay: time.Second}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { assert.Equal(t, "t1", s.ask(t, "")) })
		}
		all.Wait()
		assert.Equal(t, "t1", s.ask(t, ""))
		assert.Equal(t, 1, s.fetched)
	})
}

func TestATokenIsRenewedBeforeItsEndWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		assert.Equal(t, "t1", s.ask(t, ""))
		s.delay = 10 * time.Second
		time.Sleep(56 * time.Minute)
		before := time.Now()
		assert.Equal(t, "t1", s.ask(t, ""))
		assert.Equal(t, "t1", s.ask(t, ""))
		assert.Equal(t, before, time.Now(), "no request has waited")
		time.Sleep(11 * time.Second)
		assert.Equal(t, "t2", s.ask(t, ""))
		assert.Equal(t, 2, s.fetched)
	})
}

func TestAnEndedTokenIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		s.ask(t, "")
		time.Sleep(time.Hour - unusedBefore)
		assert.Equal(t, "t2", s.ask(t, ""))
	})
}

// Many requests may get the same 401 for a token.
func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		s.ask(t, "")
		assert.Equal(t, "t2", s.ask(t, "t1"))
		assert.Equal(t, "t2", s.ask(t, "t1"))
		assert.Equal(t, 2, s.fetched)
	})
}

// Servers of metadata keep their tokens. Requests asked them again and again for another one.
func TestAServerWithoutAnotherTokenIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{same: true}
		s.ask(t, "")
		_, err := s.Token(t.Context(), "id", "t", s.fetch)
		require.ErrorIs(t, err, errRefused)
		assert.Equal(t, 2, s.fetched)
		assert.Equal(t, "t", s.ask(t, ""))
	})
}

func TestATokenThatEndsSoonIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{life: time.Second}
		assert.Equal(t, "t1", s.ask(t, ""))
		assert.Equal(t, "t2", s.ask(t, ""))
	})
}

func TestWhileRenewalFailsTheValidTokenIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		s.ask(t, "")
		s.err = errors.New("down")
		time.Sleep(56 * time.Minute)
		for range 10 {
			assert.Equal(t, "t1", s.ask(t, ""))
			synctest.Wait()
		}
		assert.Equal(t, 2, s.fetched, "with pauses")
		time.Sleep(renewalPause)
		s.err = nil
		s.ask(t, "")
		synctest.Wait()
		assert.Equal(t, "t3", s.ask(t, ""))
	})
}

// A server of tokens that is down must not be asked by each request, and a request must not
// wait for it longer than its own patience.
func TestFailedFetchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{err: errors.New("down")}
		for range 10 {
			_, err := s.Token(t.Context(), "id", "", s.fetch)
			require.EqualError(t, err, "down")
		}
		assert.Equal(t, 1, s.fetched)
		time.Sleep(failurePause)
		s.err = nil
		assert.Equal(t, "t2", s.ask(t, ""))

		silent := &server{delay: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := silent.Token(ctx, "id", "", silent.fetch)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = silent.Token(t.Context(), "id", "", silent.fetch)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the fetch has a bound of its own")
	})
}

func TestEndedTokensAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		for i := range 3 {
			_, err := s.Token(t.Context(), strconv.Itoa(i), "", s.fetch)
			require.NoError(t, err)
			time.Sleep(2 * time.Hour)
		}
		assert.Len(t, s.sources, 1)
	})
}
