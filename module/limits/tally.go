package limits

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// tally counts the use of a limit by one subject: a key, or the keys of a user.
type tally struct {
	mu         sync.Mutex // guards the fields below
	requests   *window    // nil without a rate of requests
	tokens     *window    // nil without a rate of tokens
	concurrent int64      // the largest value of running; 0 for any
	running    int64
}

func newTally(rules aigateway.LimitRules) *tally {
	return &tally{requests: newWindow(rules.Requests), tokens: newWindow(rules.Tokens), concurrent: rules.Concurrent}
}

// concurrentRetry is the RetryAfter of requests beyond the concurrent ones. Nobody
// knows when one of those ends.
const concurrentRetry = time.Second

// admit implements Limiter.Admit. now is the time since the limiter was created.
func (t *tally) admit(now time.Duration, tokens int64) aigateway.Admission {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	decision := t.judge(now, tokens)
	if decision.Reached == "" {
		decision.Reservation = t.reserve(tokens)
	}
	if t.requests != nil {
		decision.Requests = t.requests.quota(now)
	}
	if t.tokens != nil {
		decision.Tokens = t.tokens.quota(now)
	}
	return decision
}

func (t *tally) advance(now time.Duration) {
	if t.requests != nil {
		t.requests.advance(now)
	}
	if t.tokens != nil {
		t.tokens.advance(now)
	}
}

// judge checks every rule. If several refuse the request, judge returns the one with
// the longest wait.
func (t *tally) judge(now time.Duration, tokens int64) (decision aigateway.Admission) {
	refuse := func(rule string, wait time.Duration) {
		if wait > decision.RetryAfter {
			decision.Reached, decision.RetryAfter = rule, wait
		}
	}
	if t.tokens != nil && tokens > t.tokens.limit {
		return aigateway.Admission{Reached: aigateway.TokenRate, RetryAfter: slots * t.tokens.length, TooLarge: true}
	}
	if t.concurrent > 0 && t.running >= t.concurrent {
		refuse(aigateway.ConcurrentRequests, concurrentRetry)
	}
	if t.requests != nil {
		refuse(aigateway.RequestRate, t.requests.wait(1, now))
	}
	if t.tokens != nil {
		refuse(aigateway.TokenRate, t.tokens.wait(tokens, now))
	}
	return decision
}

// reserve counts an admitted request.
func (t *tally) reserve(tokens int64) *reservation {
	t.running++
	if t.requests != nil {
		t.requests.add(1)
	}
	r := &reservation{tally: t, tokens: tokens}
	if t.tokens != nil {
		t.tokens.add(tokens)
		r.slot = t.tokens.newest
	}
	return r
}

// idle reports whether the tally equals a new one, so that it can be removed.
func (t *tally) idle(now time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance(now)
	return t.running == 0 && (t.requests == nil || t.requests.used == 0) && (t.tokens == nil || t.tokens.used == 0)
}

// reservation implements aigateway.Reservation.
type reservation struct {
	tally  *tally
	tokens int64
	slot   int64 // in which the tokens were counted
}

// Settle subtracts unused tokens from the slot in which they were counted. Tokens
// beyond the reserved ones count in the current slot.
func (r *reservation) Settle(tokens int64) {
	t := r.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.tokens == nil:
	case tokens < r.tokens:
		t.tokens.subtract(r.tokens-tokens, r.slot)
	default:
		t.tokens.add(tokens - r.tokens)
	}
}

// Release implements aigateway.Reservation.
func (r *reservation) Release() {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.running--
}
