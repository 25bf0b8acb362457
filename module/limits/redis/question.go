package redis

import (
	"crypto/rand"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// tag begins all keys, so that a Redis Cluster has them on one node, as scripts need.
const tag = "{ai_gateway}:"

// earlier is the number of slots before the current one that a sliding window counts.
const earlier = 60

// question is a call of the script admit.
type question struct {
	limits []*aigateway.Limit
	demand *aigateway.Demand
	id     string
	asked  time.Time // by the clock of this machine
	keys   []string
	args   []any
}

// keys are those of one limit.
const (
	requestsKey = iota
	tokensKey
	runningKey
	budgetKey
	levelKey
	keysPer
)

// newQuestion returns the question for a demand. Its budgets are those of the periods that
// now is in.
func newQuestion(limits []*aigateway.Limit, d *aigateway.Demand, c *clock) *question {
	q := &question{limits: limits, demand: d, id: rand.Text(), asked: time.Now()}
	q.keys = append(make([]string, 0, 1+keysPer*len(limits)), tag+"reservation:"+q.id)
	q.args = append(q.args, c.micros(), q.id, lease.Microseconds(), countable(d.Tokens), countable(d.Nanos))
	now := c.now()
	for _, limit := range limits {
		q.add(limit, now)
	}
	return q
}

// countable returns n, or the largest number that scripts count exactly.
func countable(n int64) int64 { return min(n, 1<<53) }

// key returns a key of a limit.
func (q *question) key(limit, which int) string { return q.keys[1+limit*keysPer+which] }

// add adds the keys and arguments of a limit.
func (q *question) add(l *aigateway.Limit, now time.Time) {
	subject := l.Subject(q.demand.Key)
	own := tag + l.Name + ":" + string(subject.Per) + ":" + subject.Name + ":"
	budget, begin, end := q.budget(l, now)
	soft := 0
	if l.Budget.Soft {
		soft = 1
	}
	q.keys = append(q.keys,
		own+"requests:"+time.Duration(l.Requests.Per).String(), own+"tokens:"+time.Duration(l.Tokens.Per).String(),
		own+"running", own+budget, own+"level:"+string(l.Budget.Calendar))
	q.args = append(q.args, l.Requests.Most, slotOf(time.Duration(l.Requests.Per)), l.Tokens.Most, slotOf(time.Duration(l.Tokens.Per)),
		l.Concurrent, l.Budget.Nanos(), slotOf(time.Duration(l.Budget.Per)), begin, end, soft)
}

// budget returns the name of the budget of a limit, and its period of the calendar in
// microseconds, both 0 for none.
func (q *question) budget(l *aigateway.Limit, now time.Time) (name string, begin, end int64) {
	if l.Budget.Micros == 0 {
		return "", 0, 0
	}
	name = "budget:" + l.Budget.Unit() + string(l.Budget.Calendar) + time.Duration(l.Budget.Per).String()
	from, to := l.Budget.Period(now.In(q.demand.Spending.Zone()))
	if to.IsZero() {
		return name, 0, 0
	}
	return name + ":" + strconv.FormatInt(from.Unix(), 10), from.UnixMicro(), to.UnixMicro()
}

// slotOf returns the length of the slots of a period in microseconds.
func slotOf(period time.Duration) int64 { return (period.Microseconds() + earlier - 1) / earlier }
