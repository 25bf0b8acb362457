package redis

import (
	"crypto/rand"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// tag is the prefix of all keys. It makes a Redis Cluster store them on the same node, as
// scripts need.
const tag = "{ai_gateway}:"

// earlier is the number of slots before the current one that a sliding window counts.
const earlier = 60

// admitCall is a call of the script admit.
type admitCall struct {
	limits []*aigateway.Limit
	demand *aigateway.Demand
	id     string
	sent   time.Time // by the clock of this machine
	keys   []string
	args   []any
}

// The keys of a limit, by their position.
const (
	requestsKey = iota
	tokensKey
	runningKey
	budgetKey
	levelKey
	keysPer
)

// newAdmitCall returns the call for a demand at a time of the server. Its budgets are those of the
// periods of that time.
func newAdmitCall(limits []*aigateway.Limit, d *aigateway.Demand, c *clock, now time.Time) *admitCall {
	q := &admitCall{limits: limits, demand: d, id: rand.Text(), sent: c.here()}
	q.keys = append(make([]string, 0, 1+keysPer*len(limits)), tag+"reservation:"+q.id)
	q.args = append(make([]any, 0, argsHead+argsPer*len(limits)), c.micros(), q.id, lease.Microseconds(), countable(d.Tokens), countable(d.Nanos), c.latest(q.sent))
	for _, limit := range limits {
		q.add(limit, now)
	}
	return q
}

// countable returns n, but at most the largest integer that is exact in Lua.
func countable(n int64) int64 { return min(n, 1<<53) }

// The numbers of arguments of the script admit: those before the first limit, and those of a limit.
const (
	argsHead = 6
	argsPer  = 11
)

// applied returns for how many microseconds the budget of a limit had been applied when the call was sent. The
// clocks of the server and of this machine may differ, so that the server gets no point in time.
func (q *admitCall) applied(l *aigateway.Limit) int64 {
	return q.sent.Sub(l.BudgetSince).Microseconds()
}

// key returns a key of a limit.
func (q *admitCall) key(limit, which int) string { return q.keys[1+limit*keysPer+which] }

// noBudget is the amount of a limit without a budget: that of a budget may be 0.
const noBudget = -1

// add adds the keys and arguments of a limit.
func (q *admitCall) add(l *aigateway.Limit, now time.Time) {
	subject := l.Subject(q.demand.Key)
	own := tag + l.Name + ":" + string(subject.Per) + ":" + subject.Name + ":"
	budget, begin, end := q.budget(l, now)
	soft, nanos := 0, l.Budget.Nanos()
	if l.Budget.Soft {
		soft = 1
	}
	if !l.Budget.IsSet() {
		nanos = noBudget
	}
	q.keys = append(q.keys,
		own+"requests:"+time.Duration(l.Requests.Per).String(), own+"tokens:"+time.Duration(l.Tokens.Per).String(),
		own+"running", own+budget, own+"level:"+string(l.Budget.Calendar))
	q.args = append(q.args, l.Requests.Most, slotLength(time.Duration(l.Requests.Per)), l.Tokens.Most, slotLength(time.Duration(l.Tokens.Per)),
		l.Concurrent, nanos, slotLength(time.Duration(l.Budget.Per)), begin, end, soft, q.applied(l))
}

// budget returns the last part of the key of a budget, and the beginning and the end of its
// period of the calendar in microseconds. Both are 0 if the budget has no such period.
func (q *admitCall) budget(l *aigateway.Limit, now time.Time) (name string, begin, end int64) {
	if !l.Budget.IsSet() {
		return "", 0, 0
	}
	name = "budget:" + l.Budget.Unit() + string(l.Budget.Calendar) + time.Duration(l.Budget.Per).String()
	periodStart, periodEnd := l.Budget.Period(now.In(q.demand.Spending.Zone()))
	if periodEnd.IsZero() {
		return name, 0, 0
	}
	return name + ":" + strconv.FormatInt(periodStart.Unix(), 10), periodStart.UnixMicro(), periodEnd.UnixMicro()
}

// slotLength returns the length of the slots of a period in microseconds.
func slotLength(period time.Duration) int64 { return (period.Microseconds() + earlier - 1) / earlier }
