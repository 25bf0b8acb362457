// Package tokens keeps the tokens of services whose credentials end. A token is fetched when
// the first request needs it, once for all requests that wait, and again in the background
// some time before it ends. The tokens of the process are shared, so that a reload of the
// configuration fetches none.
package tokens

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Token is a token with the time of its end.
type Token struct {
	Value aigateway.Secret
	Ends  time.Time
}

// Fetch fetches a token. It uses client until ctx ends.
type Fetch func(ctx context.Context, client *http.Client) (Token, error)

const (
	fetchTimeout = 15 * time.Second
	renewBefore  = 5 * time.Minute // a token is renewed so long before its end, or in the last quarter of its life
	unusedBefore = 10 * time.Second
	failurePause = time.Second      // requests within it get the error of the last fetch
	renewalPause = 30 * time.Second // between fetches in the background that fail
)

// Cache contains tokens by the identity of what they are fetched with. The zero value is
// empty.
type Cache[K comparable] struct {
	mu      sync.Mutex
	sources map[K]*source
}

// Token returns the token of an identity, which fetch fetches if there is no valid one, or
// if it is the refused one. It waits for the fetch, at most until ctx ends.
func (c *Cache[K]) Token(ctx context.Context, id K, of aigateway.TokenRequest, fetch Fetch) (aigateway.Secret, error) {
	return c.source(id).token(ctx, of.Refused, func(ctx context.Context) (Token, error) { return fetch(ctx, of.Client) })
}

// source returns the source of an identity. A new one replaces those whose tokens have ended.
func (c *Cache[K]) source(id K) *source {
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
		c.sources = make(map[K]*source)
	}
	s := new(source)
	c.sources[id] = s
	return s
}

// source is the token of one identity.
type source struct {
	mu      sync.Mutex
	current Token
	renewal time.Time // when a fetch in the background may begin
	running *fetching // nil if no fetch is running
	err     error     // of the last fetch
	failed  time.Time // when it failed
}

// fetching is a fetch that requests wait for.
type fetching struct{ done chan struct{} }

// token returns the token, or waits for the one that fetch fetches.
func (s *source) token(ctx context.Context, refused aigateway.Secret, fetch func(context.Context) (Token, error)) (aigateway.Secret, error) {
	for waited := false; ; waited = true {
		token, running, err := s.next(refused, waited, fetch)
		if running == nil {
			return token, err
		}
		select {
		case <-running.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// next returns the token, an error, or the fetch to wait for. It begins a fetch if one is due
// and none is running. waited is true for a request that has waited for a fetch.
func (s *source) next(refused aigateway.Secret, waited bool, fetch func(context.Context) (Token, error)) (aigateway.Secret, *fetching, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	valid := s.current.Value != "" && s.current.Value != refused && now.Before(s.current.Ends.Add(-unusedBefore))
	switch {
	case valid && now.Before(s.renewal):
	case s.running != nil:
	case !valid && s.err != nil && (waited || now.Before(s.failed.Add(failurePause))):
		return "", nil, s.err
	default:
		s.running = &fetching{make(chan struct{})}
		go s.fetch(fetch)
	}
	if valid {
		return s.current.Value, nil, nil
	}
	return "", s.running, nil
}

// fetch fetches a token for all that wait.
func (s *source) fetch(fetch func(context.Context) (Token, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	token, err := fetch(ctx)
	if err == nil && token.Value == "" {
		err = fmt.Errorf("the token is empty")
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
func (s *source) isOver(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == nil && now.After(s.current.Ends) && now.After(s.failed.Add(failurePause))
}
