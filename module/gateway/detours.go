package gateway

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// detours remember which format providers want in place of one that they refuse. The
// zero value is empty; the methods may be called at once.
type detours struct {
	mu sync.RWMutex // guards of
	of map[refusal]detour
}

// refusal is what a provider refuses: calls of a model in a format.
type refusal struct {
	provider modellist.Identity // without a format
	model    string             // the provider's own name
	format   *format.Descriptor
}

// detour is the format that a provider wants instead.
type detour struct {
	format *format.Descriptor
	period time.Duration // how long it holds, 0 for as long as the process runs
	until  time.Time     // when it ends, zero for never
}

// learnedDetours are those of the process: a reload changes nothing about what providers
// refuse.
var learnedDetours = new(detours)

// maxDetours bounds the refusals that are remembered: clients may name any model of a
// provider that takes any name.
const maxDetours = 1024

// find returns the format to speak instead, nil if none is known.
func (d *detours) find(r refusal) *format.Descriptor {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.valid(r)
}

// valid is find for a caller that holds the lock.
func (d *detours) valid(r refusal) *format.Descriptor {
	known := d.of[r]
	if !known.until.IsZero() && time.Now().After(known.until) {
		return nil
	}
	return known.format
}

// learn remembers a detour, and reports whether it was unknown. Without room for it,
// it forgets any other; and always the opposite one, or both would lead to a refusal.
func (d *detours) learn(r refusal, to detour) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.valid(r) == to.format {
		return false
	}
	if d.of == nil {
		d.of = make(map[refusal]detour)
	}
	delete(d.of, refusal{r.provider, r.model, to.format})
	for other := range d.of {
		if len(d.of) < maxDetours {
			break
		}
		delete(d.of, other)
	}
	if to.period > 0 {
		to.until = time.Now().Add(to.period)
	}
	d.of[r] = to
	return true
}
