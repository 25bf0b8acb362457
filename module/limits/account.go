package limits

import (
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// account counts the use of a limit by one subject: a key, or the keys of a user.
type account struct {
	mu       sync.Mutex // guards all below
	requests *window    // nil where the limit has no such rule
	tokens   *window    // nil likewise
	most     int64      // of running; 0 means any number
	running  int64
}

func newAccount(rules aigateway.LimitRules) *account {
	return &account{requests: newWindow(rules.Requests), tokens: newWindow(rules.Tokens), most: rules.Concurrent}
}

// soon is the retry-after of requests beyond the concurrent ones: the time at which
// one of those ends is not known.
const soon = time.Second

// admit decides about a request. now is the time since the counters were created.
func (a *account) admit(now time.Duration, tokens int64) aigateway.Admission {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance(now)
	decision := a.judge(now, tokens)
	if decision.Reached == "" {
		decision.Reservation = a.reserve(tokens)
	}
	if a.requests != nil {
		decision.Requests = a.requests.quota(now)
	}
	if a.tokens != nil {
		decision.Tokens = a.tokens.quota(now)
	}
	return decision
}

func (a *account) advance(now time.Duration) {
	if a.requests != nil {
		a.requests.advance(now)
	}
	if a.tokens != nil {
		a.tokens.advance(now)
	}
}

// judge checks every rule. If several refuse the request, judge returns the one with
// the longest wait.
func (a *account) judge(now time.Duration, tokens int64) (decision aigateway.Admission) {
	refuse := func(what string, wait time.Duration) {
		if wait > decision.RetryAfter {
			decision.Reached, decision.RetryAfter = what, wait
		}
	}
	if a.tokens != nil && tokens > a.tokens.most {
		return aigateway.Admission{Reached: aigateway.TokenRate, RetryAfter: slots * a.tokens.length, TooLarge: true}
	}
	if a.most > 0 && a.running >= a.most {
		refuse(aigateway.ConcurrentRequests, soon)
	}
	if a.requests != nil {
		refuse(aigateway.RequestRate, a.requests.wait(1, now))
	}
	if a.tokens != nil {
		refuse(aigateway.TokenRate, a.tokens.wait(tokens, now))
	}
	return decision
}

// reserve takes what an admitted request needs.
func (a *account) reserve(tokens int64) *reservation {
	a.running++
	if a.requests != nil {
		a.requests.take(1)
	}
	r := &reservation{account: a, tokens: tokens}
	if a.tokens != nil {
		a.tokens.take(tokens)
		r.slot = a.tokens.newest
	}
	return r
}

// idle reports whether the account is as a new one would be.
func (a *account) idle(now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.advance(now)
	return a.running == 0 && (a.requests == nil || a.requests.used == 0) && (a.tokens == nil || a.tokens.used == 0)
}

// reservation is what one request has taken of an account.
type reservation struct {
	account *account
	tokens  int64
	slot    int64 // in which the tokens were taken
}

// Settle gives tokens that were not used back in the slot in which they were
// taken; those that nobody expected are taken now.
func (r *reservation) Settle(tokens int64) {
	a := r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.tokens == nil:
	case tokens < r.tokens:
		a.tokens.giveBack(r.tokens-tokens, r.slot)
	default:
		a.tokens.take(tokens - r.tokens)
	}
}

// Release ends the request.
func (r *reservation) Release() {
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	r.account.running--
}
