package detour

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// table remembers which format providers want in place of one that they refuse. The
// zero value is empty; the methods may be called at once.
type table struct {
	mu sync.RWMutex // guards of
	of map[refusal]Detour
}

// refusal is what a provider refuses: calls of a model in a format.
type refusal struct {
	provider modellist.Identity // without a format
	model    string             // the provider's own name
	format   *format.Descriptor
}

// Detour is the format that a provider wants instead.
type Detour struct {
	Format *format.Descriptor // nil: none
	Period time.Duration      // how long it holds, 0 for as long as the process runs
	until  time.Time          // when it ends, zero for never
}

// learned are those of the process: a reload changes nothing about what providers
// refuse.
var learned = new(table)

// maxLearned bounds the refusals that are remembered: clients may name any model of a
// provider that takes any name.
const maxLearned = 1024

// find returns the format to speak instead, nil if none is known.
func (d *table) find(r refusal) *format.Descriptor {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.valid(r)
}

// valid is find for a caller that holds the lock.
func (d *table) valid(r refusal) *format.Descriptor {
	known := d.of[r]
	if !known.until.IsZero() && time.Now().After(known.until) {
		return nil
	}
	return known.Format
}

// learn remembers a detour, and reports whether it was unknown. Without room for it,
// it forgets any other; and always the opposite one, or both would lead to a refusal.
func (d *table) learn(r refusal, to Detour) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.valid(r) == to.Format {
		return false
	}
	if d.of == nil {
		d.of = make(map[refusal]Detour)
	}
	delete(d.of, refusal{r.provider, r.model, to.Format})
	for other := range d.of {
		if len(d.of) < maxLearned {
			break
		}
		delete(d.of, other)
	}
	if to.Period > 0 {
		to.until = time.Now().Add(to.Period)
	}
	d.of[r] = to
	return true
}
