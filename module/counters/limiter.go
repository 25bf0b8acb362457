package counters

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// mu guards all counts of the process. One lock is enough: a decision takes less than a
// microsecond, and needs the counts of several limits, some of which all requests share.
var mu sync.Mutex

// limiter implements aigateway.Limiter.
type limiter struct {
	limits []limit
}

// limit is a limit with its counts. Other limiters and other configurations may share the
// counts.
type limit struct {
	*aigateway.Limit
	*counts
}

// counts are the tallies of a limit, by subject.
type counts struct {
	created time.Time
	tallies map[aigateway.Subject]*tally
	sweepAt int       // number of tallies at which idle ones are removed
	swept   time.Time // when they were removed last
}

// mostLabelled is the largest number of tallies of a limit per customer or tag. Clients choose
// these subjects: further ones are counted together.
const mostLabelled = 1 << 16

// otherSubjects is the name of the subject that is counted for further ones. It is the value
// of no tag.
const otherSubjects = "(other)"

// sweepEvery is the time between two removals of idle tallies while there are mostLabelled.
const sweepEvery = time.Minute

// minSweep is the smallest number of tallies at which idle ones are removed.
const minSweep = 1024

func newCounts() *counts {
	return &counts{created: time.Now(), tallies: make(map[aigateway.Subject]*tally), sweepAt: minSweep}
}

// Destruct implements caddy.Destructor. It does nothing.
func (*counts) Destruct() error { return nil }

// Admit implements aigateway.Limiter. It does I/O only to restore a budget.
func (l *limiter) Admit(ctx context.Context, d aigateway.Demand) aigateway.Admission {
	for {
		admission, unknown := l.decide(&d)
		if unknown < 0 {
			return admission
		}
		if err := l.restore(ctx, unknown, d); err != nil {
			return aigateway.Admission{Err: err}
		}
	}
}

// decide returns the decision, with a negative index; or the index of a limit whose budget
// must be restored first.
func (l *limiter) decide(d *aigateway.Demand) (a aigateway.Admission, unknown int) {
	mu.Lock()
	defer mu.Unlock()
	now := time.Now()
	r, refused, unknown := l.judge(d, now)
	if unknown >= 0 {
		return a, unknown
	}
	for i := range r.shares {
		l.limits[i].reportBudget(&a, r.shares[i].tally, d)
		if refused.rule == "" {
			r.shares[i] = r.shares[i].tally.reserve(d.Use)
		}
	}
	if refused.rule == "" {
		a.Reservation = r
	} else {
		refused.report(&a)
	}
	for i := range r.shares {
		l.limits[i].showLeft(&a, r.shares[i].tally, now)
	}
	return a, -1
}

// judge returns a reservation that has the tallies of all limits, and has reserved nothing
// yet, and the refusal of the demand. The index is that of decide.
func (l *limiter) judge(d *aigateway.Demand, now time.Time) (r *reservation, refused refusal, unknown int) {
	r = &reservation{reserved: d.Use}
	r.shares = r.few[:0]
	for i := range l.limits {
		t := l.limits[i].tally(d, now)
		if t.budget != nil && !t.budget.knows(l.limits[i].Limit) {
			return nil, refused, i
		}
		r.shares = append(r.shares, share{tally: t})
		refused = refused.or(t.judge(l.limits[i].Limit, d.Use, now))
	}
	return r, refused, -1
}

// report writes the refusal to a decision.
func (r refusal) report(a *aigateway.Admission) {
	a.Limit, a.Reached, a.TooLarge, a.Exceeded = r.limit, r.rule, r.tooLarge, nil
	if r.wait != forever {
		a.RetryAfter = r.wait
	}
}

// tally returns the tally of the demand's subject, without the use that no longer counts.
func (l *limit) tally(d *aigateway.Demand, now time.Time) *tally {
	who := l.Subject(d.Key)
	t := l.tallies[who]
	if t == nil {
		l.sweep(now)
		if who.Per.Labelled() && len(l.tallies) >= mostLabelled {
			who.Name = otherSubjects
			if t = l.tallies[who]; t != nil {
				t.advance(now)
				return t
			}
		}
		t = newTally(l.Limit, l.created, zoneOf(d))
		l.tallies[who] = t
	}
	t.advance(now)
	return t
}

func zoneOf(d *aigateway.Demand) *time.Location {
	if d.Spending == nil {
		return time.UTC
	}
	return d.Spending.Zone()
}

// sweep removes idle tallies, if there are sweepAt of them, or once in a while if there may be
// no more. Its time is proportional to the number of tallies, so it runs only after that number
// has doubled.
func (l *limit) sweep(now time.Time) {
	isDue := len(l.tallies) >= mostLabelled && now.Sub(l.swept) >= sweepEvery
	if len(l.tallies) < l.sweepAt && !isDue {
		return
	}
	for who, t := range l.tallies {
		if t.idle(now) {
			delete(l.tallies, who)
		}
	}
	l.sweepAt, l.swept = max(minSweep, 2*len(l.tallies)), now
}

// reportBudget adds to the decision whether a soft budget is exceeded, and whether the
// budget has reached another level. It must be called before the demand is reserved.
func (l *limit) reportBudget(a *aigateway.Admission, t *tally, d *aigateway.Demand) {
	if t.budget == nil {
		return
	}
	if l.Budget.Soft && a.Exceeded == nil && t.budget.used+d.Nanos > l.Budget.Nanos() {
		a.Exceeded = l.Limit
	}
	if old, level, moved := t.budget.move(&l.Budget, d.Nanos); moved {
		a.Moves = append(a.Moves, aigateway.BudgetMove{Limit: l.Limit, Subject: l.Subject(d.Key), From: old, To: level})
	}
}

// showLeft adds the remaining requests, tokens and money of the limit to the decision.
func (l *limit) showLeft(a *aigateway.Admission, t *tally, now time.Time) {
	if t.requests != nil {
		a.Requests = a.Requests.Tighter(t.requests.quota(l.Requests.Most, now))
	}
	if t.tokens != nil {
		a.Tokens = a.Tokens.Tighter(t.tokens.quota(l.Tokens.Most, now))
	}
	if a.Limit == l.Limit && a.Reached == aigateway.MoneyBudget {
		a.Left = max(0, l.Budget.Nanos()-t.budget.used)
	}
}

// restore restores the budget of one of the limits.
func (l *limiter) restore(ctx context.Context, i int, d aigateway.Demand) error {
	mu.Lock()
	t := l.limits[i].tally(&d, time.Now())
	mu.Unlock()
	return t.restore(ctx, l.limits[i].Limit, &d)
}

// Amend implements aigateway.Amender.
func (l *limiter) Amend(_ context.Context, d aigateway.Demand, change aigateway.Amendment) error {
	mu.Lock()
	defer mu.Unlock()
	now := time.Now()
	for i := range l.limits {
		if t := l.limits[i].tallies[l.limits[i].Subject(d.Key)]; t != nil && t.budget != nil {
			t.advance(now)
			t.budget.amend(change)
		}
	}
	return nil
}

// reservation implements aigateway.Reservation.
type reservation struct {
	reserved aigateway.Use
	shares   []share
	few      [4]share // memory for shares: few limits need no allocation
	settled  bool
}

// Settle implements aigateway.Reservation.
func (r *reservation) Settle(used aigateway.Use) {
	mu.Lock()
	defer mu.Unlock()
	if r.settled {
		return
	}
	r.settled = true
	for _, s := range r.shares {
		s.settle(r.reserved, used)
	}
}

// Release implements aigateway.Reservation.
func (r *reservation) Release() {
	mu.Lock()
	defer mu.Unlock()
	for _, s := range r.shares {
		s.tally.running--
	}
}

// newLimiter returns a limiter of limits with the counts of countsOf.
func newLimiter(limits []*aigateway.Limit, countsOf func(*aigateway.Limit) (*counts, error)) (*limiter, error) {
	l := new(limiter)
	for _, rules := range limits {
		c, err := countsOf(rules)
		if err != nil {
			return nil, err
		}
		l.limits = append(l.limits, limit{rules, c})
	}
	return l, nil
}
