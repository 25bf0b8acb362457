package modellist

import (
	"errors"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// The times after which a list is read again.
const (
	listLifetime   = time.Minute // after a read, or a failure
	absentLifetime = time.Hour   // after the answer that the provider has no list
)

// cache is the list of models of the last read. Providers with the same identity share
// it. One goroutine at a time reads the list. If a read fails, the old list stays.
type cache struct {
	mu      sync.Mutex       // guards the fields below
	models  []modelcard.Card // sorted by id; replaced as a whole, never changed
	fresh   time.Time        // no read starts before this time
	reading chan struct{}    // closed when the running read ends; nil without one
	failing bool             // the last read failed
}

// errNoList is the error for a provider that has no list of models.
var errNoList = errors.New("the provider has no list")

// current returns the list, sorted by id. It must not be changed.
func (l *cache) current() []modelcard.Card {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.models
}

// refresh starts a read in a goroutine, unless the list is fresh or a read is running. It
// returns a channel that is closed when the read ends, nil if no read is running. If a
// read fails and the one before did not, refresh calls failed with the error.
func (l *cache) refresh(read func() ([]modelcard.Card, error), failed func(error)) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading != nil || time.Now().Before(l.fresh) {
		return l.reading
	}
	done := make(chan struct{})
	l.reading = done
	go func() {
		defer close(done)
		models, err := read()
		if l.settle(models, err) {
			failed(err)
		}
	}()
	return done
}

// settle stores the result of a read. It reports whether the read failed and the one
// before did not.
func (l *cache) settle(models []modelcard.Card, err error) (failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	failed = err != nil && !l.failing
	l.reading, l.failing = nil, err != nil
	lifetime := listLifetime
	switch {
	case err == nil:
		l.models = models
	case errors.Is(err, errNoList):
		lifetime = absentLifetime
	}
	l.fresh = time.Now().Add(lifetime)
	return failed
}
