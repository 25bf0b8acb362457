package gateway

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The times of a list of models.
const (
	listLifetime   = time.Minute     // how long a list, or the failure to read it, counts
	absentLifetime = time.Hour       // the same for a provider that has none
	listPatience   = 3 * time.Second // how long a client waits for lists that are being read
)

// modelList is a provider's own list of models as it was last read. It is read
// on demand, when it is older than listLifetime, by one goroutine at a time. A
// read that fails keeps the list.
type modelList struct {
	mu      sync.Mutex        // guards all below
	models  []translate.Model // sorted by id; replaced as a whole, never changed
	fresh   time.Time         // until when no read starts
	reading chan struct{}     // closed once the read under way has ended; nil without one
	failing bool              // the last read failed
}

// errNoList is the error for a provider that has no list of models.
var errNoList = errors.New("the provider has no list")

// current returns the list, sorted by id. It must not be changed.
func (l *modelList) current() []translate.Model {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.models
}

// refresh starts a read in the background, unless the list is fresh or a read is
// under way. The channel is closed when the read ends; it is nil if there is none.
// failed gets the error of a read that fails after one that did not.
func (l *modelList) refresh(read func() ([]translate.Model, error), failed func(error)) <-chan struct{} {
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
func (l *modelList) settle(models []translate.Model, err error) (failed bool) {
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

// awaitLists refreshes the lists of the providers and waits for the reads: at
// most for listPatience, and not after ctx is done.
func awaitLists(ctx context.Context, providers ...*provider) {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	var reads []<-chan struct{}
	for _, p := range providers {
		if read := p.refreshModels(); read != nil {
			reads = append(reads, read)
		}
	}
	for _, read := range reads {
		select {
		case <-read:
		case <-ctx.Done():
			return
		}
	}
}

// sortModels sorts models by id and removes repetitions.
func sortModels(models []translate.Model) []translate.Model {
	byID := func(a, b translate.Model) int { return strings.Compare(a.ID, b.ID) }
	slices.SortStableFunc(models, byID)
	return slices.CompactFunc(models, func(a, b translate.Model) bool { return a.ID == b.ID })
}

// namedModels returns models of which nothing but the id is known, sorted.
func namedModels(ids []string) []translate.Model {
	models := make([]translate.Model, len(ids))
	for i, id := range ids {
		models[i].ID = id
	}
	return sortModels(models)
}

// findModel returns the model with this id of a sorted list, with nothing but
// the id where it is not there.
func findModel(models []translate.Model, id string) translate.Model {
	i, found := slices.BinarySearchFunc(models, id, func(m translate.Model, id string) int { return strings.Compare(m.ID, id) })
	if !found {
		return translate.Model{ID: id}
	}
	return models[i]
}

// listIdentity says which providers share a list of models: those at the same
// address that are called in the same way with the same credential. It holds
// references to secrets, never secrets.
type listIdentity struct {
	format                   translate.Format
	apiKey, baseURL          string
	preset, transport, proxy string
}

// listPool keeps lists from one configuration to the next.
var listPool = caddy.NewUsagePool()

// modelLists are the lists that one configuration uses.
type modelLists struct{ used []listIdentity }

// load returns the list with this identity, which an earlier configuration or
// another provider may have read already.
func (l *modelLists) load(id listIdentity) *modelList {
	list, _ := listPool.LoadOrStore(id, new(modelList))
	l.used = append(l.used, id)
	return list.(*modelList)
}

// release gives back the lists of load. Requests in flight may still use them.
func (l *modelLists) release() error {
	var errs []error
	for _, id := range l.used {
		_, err := listPool.Delete(id)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
