package redis

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

// tag begins all keys, so that a Redis Cluster has them on one node, as scripts need.
const tag = "{ai_gateway}:"

// earlier is the number of slots before the current one that a sliding window counts.
const earlier = 60

// limiter implements aigateway.Limiter.
type limiter struct {
	*Redis
	limits []*aigateway.Limit
}

// Admit implements aigateway.Limiter.
func (l *limiter) Admit(ctx context.Context, d aigateway.Demand) aigateway.Admission {
	settling := l.server.pending.Load() > 0
	admission, err := l.admit(ctx, &d)
	if err == nil && admission.Reservation == nil && settling {
		l.server.flush(ctx) // what has ended in this process makes room
		moves := admission.Moves
		admission, err = l.admit(ctx, &d)
		admission.Moves = append(moves, admission.Moves...)
	}
	if err == nil {
		return admission
	}
	metrics.CounterFallback(l.OnError)
	if l.OnError == allow {
		return aigateway.Admission{Reservation: uncounted{}}
	}
	return aigateway.Admission{Err: fmt.Errorf("asking Redis: %w", err)}
}

// admit decides, and restores budgets that the server does not have.
func (l *limiter) admit(ctx context.Context, d *aigateway.Demand) (a aigateway.Admission, err error) {
	for range len(l.limits) + 1 {
		q := l.question(d)
		var answer []int64
		err := l.server.do(ctx, "admit", func(ctx context.Context) (err error) {
			answer, err = admitScript.Run(ctx, l.server.client, q.keys, q.args...).Int64Slice()
			return err
		})
		if err != nil {
			return a, err
		}
		if answer[0] >= 0 {
			return l.read(q, answer), nil
		}
		if err := l.restore(ctx, d, q, int(answer[1])-1); err != nil {
			return a, err
		}
	}
	return a, errResting
}

// question is a call of the script admit.
type question struct {
	demand *aigateway.Demand
	at     time.Time
	id     string
	keys   []string
	args   []any
}

// The numbers of keys and answers for each limit.
const (
	keysPer    = 5
	answersPer = 9
)

func (l *limiter) micros() int64 {
	if l.now == nil {
		return 0
	}
	return l.now()
}

// clock returns the time of the counters.
func (l *limiter) clock(ctx context.Context) (time.Time, error) {
	if l.now == nil {
		return l.server.client.Time(ctx).Result()
	}
	return time.UnixMicro(l.now()), nil
}

// time returns the time of this machine, by which periods of the calendar are named.
func (l *limiter) time() time.Time {
	if l.local == nil {
		return time.Now()
	}
	return l.local()
}

func (l *limiter) question(d *aigateway.Demand) *question {
	q := &question{demand: d, at: l.time(), id: rand.Text()}
	tokens := min(d.Tokens, math.MaxInt64/1024)
	q.keys = append(q.keys, tag+"reservation:"+q.id)
	q.args = append(q.args, l.micros(), q.id, lease.Microseconds(), tokens, min(d.Nanos, math.MaxInt64/1024))
	for _, limit := range l.limits {
		q.add(limit)
	}
	return q
}

// add adds the keys and arguments of a limit.
func (q *question) add(l *aigateway.Limit) {
	subject := l.Subject(q.demand.Key)
	own := tag + l.Name + ":" + string(subject.Per) + ":" + subject.Name + ":"
	budget, end, soft := "", int64(0), 0
	if l.Budget.Micros != 0 {
		begin, finish := l.Budget.Period(q.at.In(q.demand.Spending.Zone()))
		budget = "budget:" + l.Budget.Unit() + string(l.Budget.Calendar) + time.Duration(l.Budget.Per).String()
		if !finish.IsZero() {
			budget += ":" + strconv.FormatInt(begin.Unix(), 10)
			end = finish.UnixMicro()
		}
	}
	if l.Budget.Soft {
		soft = 1
	}
	q.keys = append(q.keys,
		own+"requests:"+time.Duration(l.Requests.Per).String(), own+"tokens:"+time.Duration(l.Tokens.Per).String(),
		own+"running", own+budget, own+"level:"+string(l.Budget.Calendar))
	q.args = append(q.args, l.Requests.Most, slotOf(time.Duration(l.Requests.Per)), l.Tokens.Most, slotOf(time.Duration(l.Tokens.Per)),
		l.Concurrent, l.Budget.Nanos(), slotOf(time.Duration(l.Budget.Per)), end, soft)
}

// slotOf returns the length of the slots of a period in microseconds.
func slotOf(period time.Duration) int64 { return (period.Microseconds() + earlier - 1) / earlier }

var rules = [...]aigateway.Rule{"", aigateway.RequestRate, aigateway.TokenRate, aigateway.ConcurrentRequests, aigateway.MoneyBudget}

// never is the wait of the script for room that there never is.
const never = 1<<53 - 1

// read reads an answer of the script admit.
func (l *limiter) read(q *question, answer []int64) (a aigateway.Admission) {
	r := &reservation{limiter: l, question: q}
	if answer[0] == 0 {
		a.Limit, a.Reached, a.TooLarge = l.limits[answer[1]-1], rules[answer[2]], answer[4] == 1
		if !a.TooLarge && answer[3] != never {
			a.RetryAfter = micros(answer[3])
		}
	}
	for i, limit := range l.limits {
		of := answer[5+i*answersPer:]
		if limit.Requests.Most > 0 {
			a.Requests = a.Requests.Tighter(quota(limit.Requests.Most, of[0], of[1]))
		}
		if limit.Tokens.Most > 0 {
			a.Tokens = a.Tokens.Tighter(quota(limit.Tokens.Most, of[2], of[3]))
		}
		r.slots = append(r.slots, slots{tokens: of[4], money: of[6]})
		if limit.Budget.Micros == 0 {
			continue
		}
		if answer[0] == 1 && limit.Budget.Soft && a.Exceeded == nil && of[5]+q.demand.Nanos > limit.Budget.Nanos() {
			a.Exceeded = limit
		}
		if of[7] != of[8] {
			a.Moves = append(a.Moves, aigateway.BudgetMove{Limit: limit, Subject: limit.Subject(q.demand.Key), From: int(of[7]), To: int(of[8])})
		}
	}
	if answer[0] == 1 {
		a.Reservation = r
		r.begin()
	}
	return a
}

func quota(limit, used, reset int64) aigateway.Quota {
	return aigateway.Quota{Limit: limit, Remaining: max(0, limit-used), Reset: micros(reset)}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// restore fills the budget of a limit with what the ledger has.
func (l *limiter) restore(ctx context.Context, d *aigateway.Demand, q *question, i int) error {
	limit := l.limits[i]
	begin, end := limit.Budget.Period(q.at.In(d.Spending.Zone()))
	if limit.Budget.Calendar == "" {
		begin = q.at.Add(-time.Duration(limit.Budget.Per))
	}
	key := q.keys[1+i*keysPer+3]
	leave, err := l.server.enter(ctx, key)
	if leave == nil {
		return err
	}
	defer leave()
	if known, err := l.server.client.Exists(ctx, key).Result(); err == nil && known > 0 {
		return nil // another request has restored it since
	}
	spent, err := d.Spending.Spent(ctx, limit, d.Key, begin)
	if err != nil && !limit.Budget.Soft {
		return fmt.Errorf("restoring a budget: %w", err)
	}
	lifetime := int64(time.Minute / time.Millisecond) // until the next decision
	switch {
	case limit.Budget.Calendar == "":
		lifetime = (earlier + 2) * slotOf(time.Duration(limit.Budget.Per)) / 1000
	case !end.IsZero():
		lifetime = end.Add(24 * time.Hour).Sub(q.at).Milliseconds()
	}
	args := []any{lifetime}
	for _, s := range spent {
		slot := int64(0)
		if limit.Budget.Calendar == "" {
			at := s.By
			if at.After(q.at) {
				at = q.at
			}
			slot = at.UnixMicro() / slotOf(time.Duration(limit.Budget.Per))
		}
		args = append(args, slot, s.Nanos)
	}
	return l.server.do(ctx, "restore", func(ctx context.Context) error {
		return restoreScript.Run(ctx, l.server.client, []string{key}, args...).Err()
	})
}

// uncounted is the reservation of a request that is served without the server.
type uncounted struct{}

func (uncounted) Settle(aigateway.Use) {}
func (uncounted) Release()             {}

// reservation implements aigateway.Reservation.
type reservation struct {
	*limiter
	*question
	slots   []slots // of each limit
	settled bool
}

// slots are where the share of a limit counts.
type slots struct{ tokens, money int64 }

// bounded reports whether a limit bounds the running requests.
func (r *reservation) bounded() bool {
	for _, limit := range r.limits {
		if limit.Concurrent > 0 {
			return true
		}
	}
	return false
}

func (r *reservation) begin() {
	if r.bounded() {
		r.server.track(r)
	}
}

// Settle implements aigateway.Reservation, in the background.
func (r *reservation) Settle(used aigateway.Use) {
	if r.settled {
		return
	}
	r.settled = true
	keys, args := []string{r.keys[0]}, []any{r.micros()}
	for i, limit := range r.limits {
		own := r.keys[1+i*keysPer:]
		if limit.Tokens.Most > 0 {
			keys = append(keys, own[1])
			args = append(args, r.slots[i].tokens, r.demand.Tokens, min(used.Tokens, math.MaxInt64/1024), slotOf(time.Duration(limit.Tokens.Per)))
		}
		if limit.Budget.Micros > 0 {
			keys = append(keys, own[3])
			args = append(args, r.slots[i].money, r.demand.Nanos, min(used.Nanos, math.MaxInt64/1024), 0)
		}
	}
	if len(keys) == 1 {
		return
	}
	r.server.later(func(ctx context.Context) error { return settleScript.Run(ctx, r.server.client, keys, args...).Err() })
}

// Release implements aigateway.Reservation, in the background.
func (r *reservation) Release() {
	if r.bounded() {
		r.server.untrack(r)
		r.server.later(func(ctx context.Context) error { return r.eachRunning(ctx, goredis.Pipeliner.ZRem) })
	}
}

// eachRunning removes the request from the running ones of all limits.
func (r *reservation) eachRunning(ctx context.Context, do func(goredis.Pipeliner, context.Context, string, ...any) *goredis.IntCmd) error {
	_, err := r.server.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i, limit := range r.limits {
			if limit.Concurrent > 0 {
				do(p, ctx, r.keys[1+i*keysPer+2], r.id)
			}
		}
		return nil
	})
	return err
}

// renew renews the lease of the request.
func (r *reservation) renew(ctx context.Context) error {
	now, err := r.clock(ctx)
	if err != nil {
		return err
	}
	deadline := float64(now.Add(lease).UnixMicro())
	return r.eachRunning(ctx, func(p goredis.Pipeliner, ctx context.Context, key string, _ ...any) *goredis.IntCmd {
		p.Expire(ctx, key, lease+time.Minute)
		return p.ZAddXX(ctx, key, goredis.Z{Score: deadline, Member: r.id})
	})
}
