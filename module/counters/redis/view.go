package redis

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// viewPer is the length of the part of an answer of the script view for a limit.
const viewPer = 9

// View implements aigateway.LimitViewer. It first sends the changes of requests that have
// ended in this process.
func (l *limiter) View(ctx context.Context, d aigateway.Demand) ([]aigateway.LimitUse, error) {
	if l.server.backlog.pending() {
		l.server.backlog.flush(ctx, l.server.timeout)
	}
	d.Use = aigateway.Use{}
	for range 2 { // the first answer may correct the clock
		q := newAdmitCall(l.limits, &d, &l.server.clock, l.server.clock.now())
		var answer []int64
		err := l.server.do("view", func(ctx context.Context) (err error) {
			answer, err = viewScript.Run(ctx, l.server.client, q.keys, q.args...).Int64Slice()
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case len(answer) == 2 && verdict(answer[0]) == otherPeriod:
			l.server.clock.set(timeOf(answer))
		case len(answer) == 1+viewPer*len(l.limits):
			return l.uses(answer[1:], l.server.clock.now(), d.Spending), nil
		default:
			return nil, errAnswerLength
		}
	}
	return nil, errAnswerLength
}

// uses reads an answer without its first number.
func (l *limiter) uses(answer []int64, now time.Time, spending aigateway.Spending) []aigateway.LimitUse {
	uses := make([]aigateway.LimitUse, len(l.limits))
	for i, limit := range l.limits {
		n := [viewPer]int64(answer[i*viewPer:])
		uses[i] = aigateway.LimitUse{
			Requests: aigateway.RuleUse{Used: n[0], Reset: micros(n[1])},
			Tokens:   aigateway.RuleUse{Used: n[2] - n[3], Reserved: n[3], Reset: micros(n[4])},
			Running:  n[5],
		}
		if !limit.Budget.IsSet() || n[6] < 0 {
			continue
		}
		money := aigateway.RuleUse{Used: n[6] - n[7], Reserved: n[7], Reset: micros(n[8])}
		if _, end := limit.Budget.Period(now.In(spending.Zone())); !end.IsZero() && n[6] > 0 {
			money.Reset = end.Sub(now)
		}
		uses[i].Money = &money
	}
	return uses
}
