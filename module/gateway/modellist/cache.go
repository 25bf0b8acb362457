package modellist

import (
	"errors"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// The lifetimes of a list.
const (
	listLifetime   = time.Minute // of a list, and of the failure to read it
	absentLifetime = time.Hour   // of the answer that a provider has none
)

// cache is a list of models as it was last read, which providers may share. It is
// read when it is older than listLifetime, by one goroutine at a time. A read that
// fails keeps the list.
type cache struct {
	mu      sync.Mutex       // guards all below
	models  []modelcard.Card // sorted by id; replaced as a whole, never changed
	fresh   time.Time        // until when no read starts
	reading chan struct{}    // closed once the read under way has ended; nil without one
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

// refresh starts a read in the background, unless the list is fresh or a read is
// under way. The channel is closed when the read ends; it is nil if there is none.
// failed gets the error of a read that fails after one that did not.
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

// settle ends a read. It reports whether the read failed and the one before did
// not.
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
