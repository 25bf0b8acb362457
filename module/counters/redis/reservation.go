package redis

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// reservation implements aigateway.Reservation. It belongs to a call of the script admit,
// which need not have reached the server.
type reservation struct {
	*admitCall
	server  *server
	settled bool
}

// newReservation returns the reservation of a call. It keeps the server open until it is
// released.
func newReservation(q *admitCall, s *server) *reservation {
	s.hold()
	r := &reservation{admitCall: q, server: s}
	if keys := r.runningKeys(); len(keys) > 0 {
		s.leases.track(r)
	}
	return r
}

// giveBack ends the reservation of a request that is not served.
func giveBack(r aigateway.Reservation) {
	r.Settle(aigateway.Use{})
	r.Release()
}

// runningKeys returns the keys with running requests, of the limits with Concurrent.
func (q *admitCall) runningKeys() (keys []string) {
	for i, limit := range q.limits {
		if limit.Concurrent > 0 {
			keys = append(keys, q.key(i, runningKey))
		}
	}
	return keys
}

// Settle implements aigateway.Reservation, in the background.
func (r *reservation) Settle(used aigateway.Use) {
	if r.settled {
		return
	}
	r.settled = true
	s := &settlement{began: r.sent, ended: r.server.clock.here(), clock: &r.server.clock, keys: []string{r.keys[0]}}
	for i, limit := range r.limits {
		if limit.Tokens.Most > 0 {
			s.add(r.key(i, tokensKey), "tokens", i, r.demand.Tokens, used.Tokens, limit.Tokens.Per)
		}
		if limit.Budget.IsSet() {
			s.add(r.key(i, budgetKey), "money", i, r.demand.Nanos, used.Nanos, limit.Budget.Per)
		}
	}
	if len(s.keys) > 1 {
		r.server.backlog.add(s)
	}
}

// Release implements aigateway.Reservation, in the background.
func (r *reservation) Release() {
	if keys := r.runningKeys(); len(keys) > 0 {
		r.server.leases.untrack(r)
		r.server.backlog.add(&removal{keys: keys, id: r.id})
	}
	r.server.drop()
}
