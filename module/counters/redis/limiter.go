package redis

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// limiter implements aigateway.Limiter.
type limiter struct {
	*Redis
	limits []*aigateway.Limit
}

// Admit implements aigateway.Limiter. If the answer of the server is missing, the server
// may have admitted the request. Such a request is either served or settled with no use, so
// that it does not stay counted.
func (l *limiter) Admit(ctx context.Context, d aigateway.Demand) aigateway.Admission {
	settling := l.server.backlog.pending()
	q, a, err := l.admit(ctx, &d)
	if err == nil && a.Reached != "" && settling {
		l.server.backlog.flush(ctx, l.server.timeout) // the requests that have ended in this process make room
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

// Amend implements aigateway.Amender, in the background. An amendment whose arrival is uncertain is not
// repeated, so that it never counts twice.
func (l *limiter) Amend(_ context.Context, d aigateway.Demand, change aigateway.Amendment) error {
	c := &l.server.clock
	q := newAdmitCall(l.limits, &d, c, change.Admitted.Add(c.lead()))
	s := &settlement{began: c.here(), ended: change.At, clock: c, keys: q.keys[:1:1]}
	for i, limit := range l.limits {
		if limit.Budget.Micros > 0 {
			s.add(q.key(i, budgetKey), "amended", i, change.At.Sub(change.Admitted).Microseconds(), change.Nanos, limit.Budget.Per)
		}
	}
	if len(s.keys) > 1 {
		l.server.backlog.add(s)
	}
	return nil
}

// undecided returns the decision after a call that failed.
func (l *limiter) undecided(q *admitCall, err error) aigateway.Admission {
	if !isServerError(err) {
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

// admit decides about a demand, and returns its last call of the script. It restores
// budgets that are not on the server.
func (l *limiter) admit(ctx context.Context, d *aigateway.Demand) (q *admitCall, a aigateway.Admission, err error) {
	for range 2*len(l.limits) + 2 {
		q = newAdmitCall(l.limits, d, &l.server.clock, l.server.clock.now())
		answer, err := l.server.ask(q)
		if err != nil {
			return q, a, err
		}
		l.server.clock.arrived(q.sent, timeOf(answer))
		switch verdict(answer[0]) {
		case admitted, refused:
			return q, q.read(answer), nil
		case otherPeriod:
			l.server.clock.set(timeOf(answer))
		case budgetUnknown:
			if err := l.restore(ctx, q, int(answer[1])-1, timeOf(answer)); err != nil {
				return q, a, err
			}
		}
	}
	return q, a, errBudgetsLost
}

// ask calls the script admit.
func (s *server) ask(q *admitCall) (answer []int64, err error) {
	err = s.do("admit", func(ctx context.Context) (err error) {
		answer, err = admitScript.Run(ctx, s.client, q.keys, q.args...).Int64Slice()
		return err
	})
	if err == nil && !q.accepts(answer) {
		err = errAnswerLength
	}
	return answer, err
}
