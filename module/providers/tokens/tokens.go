// Package tokens keeps the tokens of services whose credentials end. A token is fetched when
// the first request needs it, once for all requests that wait, and again in the background
// some time before it ends. The tokens of the process are shared, so that a reload of the
// configuration fetches none.
package tokens

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Token is a token of any type with the time of its end. The zero value of the type is none.
type Token[V comparable] struct {
	Value V
	Ends  time.Time
}

// Fetch fetches a token until ctx ends.
type Fetch[V comparable] func(ctx context.Context) (Token[V], error)

const (
	fetchTimeout = 15 * time.Second
	renewBefore  = 5 * time.Minute // a token is renewed so long before its end, or in the last quarter of its life
	unusedBefore = 10 * time.Second
	failurePause = time.Second      // requests within it get the error of the last fetch
	renewalPause = 30 * time.Second // between fetches in the background that fail
)

// Cache contains tokens by the identity of what they are fetched with. The zero value is
// empty.
type Cache[K, V comparable] struct {
	mu      sync.Mutex
	sources map[K]*source[V]
}

// Token returns the token of an identity, which fetch fetches if there is no valid one, or
// if it is the refused one. It waits for the fetch, at most until ctx ends.
func (c *Cache[K, V]) Token(ctx context.Context, id K, refused V, fetch Fetch[V]) (V, error) {
	return c.source(id).token(ctx, refused, fetch)
}

// source returns the source of an identity. A new one replaces those whose tokens have ended.
func (c *Cache[K, V]) source(id K) *source[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sources[id]; s != nil {
		return s
	}
	for other, s := range c.sources {
		if s.isOver(time.Now()) {
			delete(c.sources, other)
		}
	}
	if c.sources == nil {
		c.sources = make(map[K]*source[V])
	}
	s := new(source[V])
	c.sources[id] = s
	return s
}

// source is the token of one identity.
type source[V comparable] struct {
	mu      sync.Mutex
	current Token[V]
	renewal time.Time // when a fetch in the background may begin
	running *fetching // nil if no fetch is running
	err     error     // of the last fetch
	failed  time.Time // when it failed
}

// fetching is a fetch that requests wait for.
type fetching struct{ done chan struct{} }

// token returns the token, or waits for the one that fetch fetches.
func (s *source[V]) token(ctx context.Context, refused V, fetch Fetch[V]) (token V, err error) {
	for waited := false; ; waited = true {
		fetched, running, err := s.next(refused, waited, fetch)
		if running == nil {
			return fetched, err
		}
		select {
		case <-running.done:
		case <-ctx.Done():
			return token, context.Cause(ctx)
		}
	}
}

// next returns the token, an error, or the fetch to wait for. It begins a fetch if one is due
// and none is running. waited is true for a request that has waited for a fetch.
func (s *source[V]) next(refused V, waited bool, fetch Fetch[V]) (none V, running *fetching, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	valid := s.current.Value != none && s.current.Value != refused && now.Before(s.current.Ends.Add(-unusedBefore))
	switch {
	case valid && now.Before(s.renewal):
	case s.running != nil:
	case !valid && (waited || s.err != nil && now.Before(s.failed.Add(failurePause))):
		last, err := s.last(refused)
		return last, nil, err
	default:
		s.running = &fetching{make(chan struct{})}
		go s.fetch(fetch)
	}
	if valid {
		return s.current.Value, nil, nil
	}
	return none, s.running, nil
}

// last returns the result of the last fetch for a request that has waited for it. A server
// may give the refused token again, or one that ends soon.
func (s *source[V]) last(refused V) (none V, err error) {
	switch {
	case s.err != nil:
		return none, s.err
	case s.current.Value == refused:
		return none, errRefused
	default:
		return s.current.Value, nil
	}
}

var errRefused = errors.New("there is no other token than the refused one")

// fetch fetches a token for all that wait.
func (s *source[V]) fetch(fetch Fetch[V]) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	token, err := fetch(ctx)
	var none V
	if err == nil && token.Value == none {
		err = errors.New("the token is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.err = err; err == nil {
		s.current = token
		s.renewal = token.Ends.Add(-min(renewBefore, token.Ends.Sub(now)/4))
	} else {
		s.failed, s.renewal = now, now.Add(renewalPause)
	}
	close(s.running.done)
	s.running = nil
}

// isOver reports whether the token has ended, and nobody waits for another.
func (s *source[V]) isOver(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == nil && now.After(s.current.Ends) && now.After(s.failed.Add(failurePause))
}
