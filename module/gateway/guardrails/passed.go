package guardrails

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// mostPassed is the number of groups of texts that are remembered at least, and half of the
// largest number. Each takes about 50 bytes.
const mostPassed = 50_000

// digest identifies the texts of a group.
type digest [sha256.Size]byte

// passed remembers the groups of texts that a guard has passed, because clients repeat the whole
// conversation in every request. The oldest ones are forgotten.
type passed struct {
	mu           sync.Mutex // guards both sets
	newer, older map[digest]struct{}
}

// has reports whether a group has passed.
func (p *passed) has(d digest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, newer := p.newer[d]
	_, older := p.older[d]
	if older && !newer {
		p.keep(d)
	}
	return newer || older
}

// add remembers groups.
func (p *passed) add(groups []digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range groups {
		p.keep(d)
	}
}

// keep remembers a group. The caller holds the lock.
func (p *passed) keep(d digest) {
	if len(p.newer) >= mostPassed {
		p.newer, p.older = nil, p.newer
	}
	if p.newer == nil {
		p.newer = make(map[digest]struct{})
	}
	p.newer[d] = struct{}{}
}

// digestOf returns the digest of the texts of a group, and of all else that the verdict of a
// guard may depend on.
func digestOf(v *aigateway.GuardView, group []aigateway.GuardText) (d digest) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q %q %q ", v.Key, v.Owner, v.Model, v.Format)
	for i := range group {
		t := &group[i]
		_, _ = fmt.Fprintf(h, "%s %q %d ", t.Kind, t.Name, len(t.Text)) // a hash never fails
		_, _ = h.Write([]byte(t.Text))
	}
	h.Sum(d[:0])
	return d
}
