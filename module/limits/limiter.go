package limits

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// limiter implements aigateway.Limiter for one limit.
type limiter struct {
	rules   aigateway.LimitRules
	created time.Time

	mu      sync.RWMutex // guards tallies and sweepAt; held for reading while a tally is used
	tallies map[subject]*tally
	sweepAt int // number of tallies at which idle ones are removed
}

// subject identifies the keys that are counted together: the keys with the same
// Key.Subject, or else one key by its digest.
type subject struct {
	digest aigateway.Digest
	name   string
}

func subjectOf(key *aigateway.Key) subject {
	if key.Subject != "" {
		return subject{name: key.Subject}
	}
	return subject{digest: key.Digest}
}

// minSweep is the smallest number of tallies at which idle ones are removed.
const minSweep = 1024

func newLimiter(rules aigateway.LimitRules) *limiter {
	return &limiter{rules: rules, created: time.Now(), tallies: make(map[subject]*tally), sweepAt: minSweep}
}

// Admit implements aigateway.Limiter without I/O.
func (l *limiter) Admit(_ context.Context, key *aigateway.Key, tokens int64) aigateway.Admission {
	who, now := subjectOf(key), time.Since(l.created)
	l.mu.RLock()
	defer l.mu.RUnlock()
	found := l.tallies[who]
	for found == nil {
		l.mu.RUnlock()
		l.add(who, now)
		l.mu.RLock()
		found = l.tallies[who] // nil if another goroutine has removed it since
	}
	return found.admit(now, tokens)
}

// add adds a tally. A sweep takes time in proportion to the number of tallies, and
// happens only after that number has doubled.
func (l *limiter) add(who subject, now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tallies[who] != nil {
		return
	}
	if len(l.tallies) >= l.sweepAt {
		l.sweep(now)
	}
	l.tallies[who] = newTally(l.rules)
}

func (l *limiter) sweep(now time.Duration) {
	for who, t := range l.tallies {
		if t.idle(now) {
			delete(l.tallies, who)
		}
	}
	l.sweepAt = max(minSweep, 2*len(l.tallies))
}

// Destruct implements caddy.Destructor. There is nothing to release.
func (*limiter) Destruct() error { return nil }
