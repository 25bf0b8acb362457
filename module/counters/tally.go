package counters

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// tally counts the use of a limit by one subject.
type tally struct {
	requests *window // nil without a rate of requests
	tokens   *window // nil without a rate of tokens
	budget   *budget // nil without a budget
	running  int64

	// The parts of tokens and budget that running requests have reserved.
	heldTokens, heldMoney *window
}

// newTally returns a tally for a limit. Its sliding windows measure time from created.
func newTally(l *aigateway.Limit, created time.Time, zone *time.Location) *tally {
	t := new(tally)
	if period := l.Requests.Per; period != 0 {
		t.requests = newWindow(newSliding(time.Duration(period), created))
	}
	if period := l.Tokens.Per; period != 0 {
		t.tokens = newWindow(newSliding(time.Duration(period), created))
		t.heldTokens = newWindow(t.tokens.pace)
	}
	if l.Budget.IsSet() {
		t.budget = newBudget(&l.Budget, created, zone)
		t.heldMoney = newWindow(t.budget.pace)
	}
	return t
}

// advance clears slots that no longer count.
func (t *tally) advance(now time.Time) {
	if t.requests != nil {
		t.requests.advance(t.requests.pace.slot(now))
	}
	if t.tokens != nil {
		slot := t.tokens.pace.slot(now)
		t.tokens.advance(slot)
		t.heldTokens.advance(slot)
	}
	if t.budget != nil {
		slot := t.budget.pace.slot(now)
		t.budget.advance(slot)
		t.heldMoney.advance(slot)
	}
}

// concurrentRetry is the RetryAfter of a request that exceeds the concurrent requests. It
// is unknown when one of those ends.
const concurrentRetry = time.Second

// refusal is the reason for which a limit refuses a request. The zero refusal admits it.
type refusal struct {
	limit    *aigateway.Limit
	rule     aigateway.Rule
	wait     time.Duration // until there is room
	tooLarge bool          // there will never be room for the request
}

// or returns the refusal with the longer wait.
func (r refusal) or(other refusal) refusal {
	if other.tooLarge && !r.tooLarge || other.tooLarge == r.tooLarge && other.wait > r.wait {
		return other
	}
	return r
}

// judge checks every rule of the limit. If several refuse the request, judge returns
// the one with the longest wait.
func (t *tally) judge(l *aigateway.Limit, use aigateway.Use, now time.Time) (r refusal) {
	if l.Concurrent > 0 && t.running >= l.Concurrent {
		r = refusal{limit: l, rule: aigateway.ConcurrentRequests, wait: concurrentRetry}
	}
	if t.requests != nil {
		r = r.or(t.requests.refuse(l, aigateway.RequestRate, 1, l.Requests.Most, now))
	}
	if t.tokens != nil {
		r = r.or(t.tokens.refuse(l, aigateway.TokenRate, use.Tokens, l.Tokens.Most, now))
	}
	if t.budget != nil && !l.Budget.Soft && use.Nanos > 0 { // what is free needs no money, even beyond the budget
		r = r.or(t.budget.refuse(l, aigateway.MoneyBudget, use.Nanos, l.Budget.Nanos(), now))
	}
	return r
}

// refuse returns the refusal of n, or the zero refusal if there is room for n.
func (w *window) refuse(l *aigateway.Limit, rule aigateway.Rule, n, limit int64, now time.Time) refusal {
	r := refusal{limit: l, rule: rule}
	if n > limit {
		r.tooLarge = true
		return r
	}
	if r.wait = w.wait(n, limit, now); r.wait == 0 {
		return refusal{}
	}
	return r
}

// reserve counts an admitted request.
func (t *tally) reserve(use aigateway.Use) share {
	s := share{tally: t}
	t.running++
	if t.requests != nil {
		t.requests.add(1)
	}
	if t.tokens != nil {
		t.tokens.add(use.Tokens)
		t.heldTokens.add(use.Tokens)
		s.tokens = t.tokens.newest
	}
	if t.budget != nil {
		t.budget.add(use.Nanos)
		t.heldMoney.add(use.Nanos)
		s.money = t.budget.newest
	}
	return s
}

// idle reports whether the tally equals a new one, so that it can be removed.
func (t *tally) idle(now time.Time) bool {
	t.advance(now)
	return t.running == 0 && (t.requests == nil || t.requests.used == 0) &&
		(t.tokens == nil || t.tokens.used == 0) && (t.budget == nil || t.budget.used == 0)
}

// share is the part of a tally that a request has reserved.
type share struct {
	tally  *tally
	tokens int64 // the slot in which tokens were counted
	money  int64 // the slot in which money was counted
}

// settle replaces reserved by used. Unused tokens are subtracted from the slot in which
// they were reserved. Tokens that were not reserved count in the current slot, in which the
// provider has reported them. All money counts in the slot of the admission, as in the
// ledger.
func (s share) settle(reserved, used aigateway.Use) {
	t := s.tally
	if t.tokens != nil {
		t.heldTokens.addAt(-reserved.Tokens, s.tokens)
		t.tokens.addAt(min(0, used.Tokens-reserved.Tokens), s.tokens)
		t.tokens.add(max(0, used.Tokens-reserved.Tokens))
	}
	if t.budget != nil {
		t.heldMoney.addAt(-reserved.Nanos, s.money)
		t.budget.addAt(used.Nanos-reserved.Nanos, s.money)
	}
}
