package detour

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// table maps refusals to detours. The zero value is an empty table. Its methods may be
// called concurrently.
type table struct {
	mu sync.RWMutex // guards of
	of map[refusal]Detour
}

// refusal identifies the calls that a provider refuses: those for a model in a format.
type refusal struct {
	provider modellist.Identity // without a format
	model    string             // the provider's own name
	format   *format.Descriptor
}

// Detour is the call that a provider accepts in place of a refused one.
type Detour struct {
	Format *format.Descriptor // nil for none
	// Unencrypted is true if the call does not ask for encrypted reasoning. Its format is
	// then that of the refused one.
	Unencrypted bool
	Period      time.Duration // how long it is valid; 0 for as long as the process runs
	until       time.Time     // the end of its validity; zero for none
}

// learned is the table of the process. It survives reloads, because a reload does not
// change what providers refuse.
var learned = new(table)

// unencrypted is the table of the models for which a provider encrypts no reasoning.
var unencrypted = new(table)

// maxLearned is the largest number of refusals in a table. Clients may use any number of
// model names of a provider that accepts all names.
const maxLearned = 1024

// find returns the format to use instead, nil if the table has none.
func (d *table) find(r refusal) *format.Descriptor {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.valid(r)
}

// valid is find for a caller that holds the lock d.mu.
func (d *table) valid(r refusal) *format.Descriptor {
	known := d.of[r]
	if !known.until.IsZero() && time.Now().After(known.until) {
		return nil
	}
	return known.Format
}

// learn stores a detour, and reports whether it is new. If the table is full, any other
// detour is removed. The opposite detour is always removed: with both, every call would
// be refused once.
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
