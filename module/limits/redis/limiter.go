package redis

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

// limiter implements aigateway.Limiter.
type limiter struct {
	*Redis
	limits []*aigateway.Limit
}

// Admit implements aigateway.Limiter. A request that the server may have admitted, though
// its answer did not come, is either served or given back: it would count for ever
// otherwise.
func (l *limiter) Admit(ctx context.Context, d aigateway.Demand) aigateway.Admission {
	settling := l.server.backlog.waits()
	q, a, err := l.admit(ctx, &d)
	if err == nil && a.Reached != "" && settling {
		l.server.backlog.flush(ctx, l.server.timeout) // what has ended in this process makes room
		moves := a.Moves
		q, a, err = l.admit(ctx, &d)
		a.Moves = append(moves, a.Moves...)
	}
	if err != nil {
		return l.undecided(q, err)
	}
	if a.Reached == "" {
		a.Reservation = newReservation(q, l.server)
	}
	return a
}

// undecided returns the decision about a question that failed.
func (l *limiter) undecided(q *question, err error) aigateway.Admission {
	if !isOfServer(err) {
		return aigateway.Admission{Err: err}
	}
	metrics.CounterFallback(l.OnError)
	if l.OnError == allow {
		return aigateway.Admission{Reservation: newReservation(q, l.server)}
	}
	if isUncertain(err) {
		giveBack(newReservation(q, l.server))
	}
	return aigateway.Admission{Err: err}
}

// admit decides about a demand, and returns the last question that it asked. It restores
// the budgets that the server does not have.
func (l *limiter) admit(ctx context.Context, d *aigateway.Demand) (q *question, a aigateway.Admission, err error) {
	for range 2*len(l.limits) + 2 {
		q = newQuestion(l.limits, d, &l.server.clock)
		answer, err := l.server.ask(q)
		if err != nil {
			return q, a, err
		}
		switch verdict(answer[0]) {
		case admitted, refused:
			return q, q.read(answer), nil
		case otherPeriod:
			l.server.clock.set(answer[1])
		case budgetUnknown:
			if err := l.restore(ctx, q, int(answer[1])-1, answer[2]); err != nil {
				return q, a, err
			}
		}
	}
	return q, a, errLosing
}

// ask asks the script admit.
func (s *server) ask(q *question) (answer []int64, err error) {
	err = s.do("admit", func(ctx context.Context) (err error) {
		answer, err = admitScript.Run(ctx, s.client, q.keys, q.args...).Int64Slice()
		return err
	})
	if err == nil && !q.answeredBy(answer) {
		err = errAnswer
	}
	return answer, err
}
