package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/restore"
)

// restore fills the budget of a limit from the ledger. now is the time of the server in
// microseconds.
func (l *limiter) restore(ctx context.Context, q *admitCall, limit int, now int64) error {
	key := q.key(limit, budgetKey)
	return l.server.restores.Do(ctx, key, func(ctx context.Context) error {
		start := min(now, l.server.clock.latest(q.sent)) - q.applied(l.limits[limit])
		known, err := l.server.knows(key, start)
		if err != nil || known {
			return err // another request, or another gateway, has restored it meanwhile
		}
		f := filling{limit: l.limits[limit], moment: time.UnixMicro(now).In(q.demand.Spending.Zone()), start: start}
		spent, err := restore.Spent(ctx, f.limit, q.demand, f.moment)
		if err != nil {
			return err
		}
		return l.server.do("restore", func(ctx context.Context) error {
			return restoreScript.Run(ctx, l.server.client, []string{key}, f.args(spent)...).Err()
		})
	})
}

// knows reports whether a budget was read from the ledger since a time of the server in microseconds.
func (s *server) knows(key string, start int64) (known bool, err error) {
	err = s.do("restore", func(ctx context.Context) error {
		times, err := s.client.HMGet(ctx, key, "read", "restored").Result()
		for _, value := range times {
			if text, ok := value.(string); ok {
				restored, _ := strconv.ParseInt(text, 10, 64)
				known = restored >= start
				break
			}
		}
		return err
	})
	return known, err
}

// filling builds the arguments of the script restore.
type filling struct {
	limit  *aigateway.Limit
	moment time.Time // the time at which the ledger is read, by the clock of the server
	start  int64     // the time since which the budget is applied, by that clock, in microseconds
}

// args returns the arguments for amounts of the ledger.
func (f *filling) args(spent []aigateway.Spent) []any {
	args := []any{f.lifetime().Milliseconds(), f.moment.UnixMicro(), f.start, f.slot(f.moment) - earlier}
	for _, s := range spent {
		args = append(args, f.slot(s.By), s.Nanos)
	}
	return args
}

// slot returns the slot of a point in time. Times after f.at count as f.at.
func (f *filling) slot(latest time.Time) int64 {
	if f.limit.Budget.Calendar != "" {
		return 0
	}
	if latest.After(f.moment) {
		latest = f.moment
	}
	return latest.UnixMicro() / slotLength(time.Duration(f.limit.Budget.Per))
}

// lifetime returns the time for which the server keeps the budget. Requests may prolong it.
func (f *filling) lifetime() time.Duration {
	if f.limit.Budget.Calendar == "" {
		return micros((earlier + 2) * slotLength(time.Duration(f.limit.Budget.Per)))
	}
	if _, end := f.limit.Budget.Period(f.moment); !end.IsZero() {
		return end.Add(24 * time.Hour).Sub(f.moment)
	}
	return time.Minute // the next decision prolongs it
}
