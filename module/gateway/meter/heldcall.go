package meter

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// heldCall is what an attempt has reserved in the limits of its target.
type heldCall struct {
	reservation aigateway.Reservation
	currency    string // of the budgets; empty without one
	calls       int    // in the record before the attempt
	tokens      int64  // that the calls of the attempt have used
}

// HoldCall sets the reservation of the next attempt in the limits of its target. That of the attempt
// before, which has failed, is settled and released.
func (m *Meter) HoldCall(ex *exchange.Exchange, r aigateway.Reservation, currency string) {
	if m.entry == nil { // nothing was admitted
		r.Release()
		return
	}
	if m.held != nil {
		m.AddFailed(ex)
		m.held.settle(m.entry)
		m.held.reservation.Release()
	} else if ex.Course.Result != nil {
		m.AddFailed(ex) // to a target without limits
	}
	m.held = &heldCall{reservation: r, currency: currency, calls: len(m.entry.record.Calls)}
}

// settle replaces the reserved usage by that of the calls of the attempt.
func (h *heldCall) settle(e *Entry) {
	h.reservation.Settle(aigateway.Use{Tokens: h.tokens, Nanos: Spent(e.record.Calls[h.calls:], h.currency)})
}
