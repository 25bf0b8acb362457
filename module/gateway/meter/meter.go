// Package meter counts the tokens of exchanges: the estimate before the first call, the
// usage at the end, and the bytes per token of each model, learned from reported usage.
//
// An exchange is settled once, and before the client has the last bytes of its answer. If
// the usage of a call is unknown, the meter counts a number that is too high rather than
// too low.
package meter

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Estimate is what an exchange is expected to use, in tokens if nothing else is stated.
type Estimate struct {
	Prompt   int64 // of the input
	Reserved int64 // of the input and the longest answers
	Assumed  fault.Assumed
	Units    token.Units // of the answer
	Searches int64       // of each call, which no answer need state

	// Cost is the highest possible cost of these tokens, in the currency of the budgets.
	// It is zero without a budget.
	Cost aigateway.Cost
}

// Meter counts the usage of one exchange, settles it with the limits of its key, and
// writes its record. The zero Meter belongs to an exchange that is not admitted, and
// counts nothing. A Meter must be used by one goroutine at a time.
type Meter struct {
	Estimate

	reservation aigateway.Reservation // nil without limits, and after its release
	entry       *Entry                // nil in the zero Meter
	held        *heldCall             // of the current attempt; nil if its target has no limits
	settled     bool
	failed      int64            // tokens that failed attempts have reported
	added       *exchange.Result // of the last attempt that is among them
}

// New returns the Meter of an exchange. r is the reservation of the estimate in the
// limits, nil if there are none.
func New(e Estimate, r aigateway.Reservation, record *Entry) Meter {
	return Meter{Estimate: e, reservation: r, entry: record}
}

// Calls returns the calls of providers in the record. It is complete when the exchange is
// settled.
func (m *Meter) Calls() []accounting.Call {
	if m.entry == nil {
		return nil
	}
	return m.entry.record.Calls
}

// AddFailed adds the usage of the current attempt, which has failed and which another
// attempt follows. An attempt that becomes the current one again, since the other could not
// be made, is counted once.
func (m *Meter) AddFailed(ex *exchange.Exchange) {
	m.failed += m.charge(ex, call.reported)
	if ex.Course.Result.State != exchange.Unasked {
		m.added = ex.Course.Result
	}
}

// AddLost adds the usage of a call that was made beside that of the current attempt, and has ended
// without an answer.
func (m *Meter) AddLost(ex *exchange.Exchange, c *exchange.Conduit) {
	lost := *ex
	lost.Course.Attempt, lost.Course.Result = &c.Attempt, &c.Result
	m.failed += m.charge(&lost, call.reported)
}

// charge adds the calls of the current attempt to the record. It returns the sum of their
// tokens by a function.
func (m *Meter) charge(ex *exchange.Exchange, tokens func(call) int64) (sum int64) {
	switch {
	case ex.Course.Result == nil || ex.Course.Result == m.added || ex.Request.Operation == translate.CountTokens:
		return 0
	case ex.Request.Operation == translate.Manage:
		m.entry.deferRequests(ex)
		return 0
	}
	for c := range m.calls(ex) {
		m.entry.add(ex.Course.Attempt, c)
		sum += tokens(c)
	}
	if m.held != nil {
		m.held.tokens += sum
	}
	return sum
}

// Settle replaces the reserved usage by the actual usage, and writes the record. Further
// calls have no effect.
func (m *Meter) Settle(ex *exchange.Exchange, outcome exchange.Outcome) {
	if m.settled {
		return
	}
	m.settled = true
	tokens := m.failed + m.charge(ex, call.cost)
	if m.reservation != nil {
		m.reservation.Settle(aigateway.Use{Tokens: tokens, Nanos: m.entry.spent(m.Cost.Currency)})
	}
	if m.held != nil {
		m.held.settle(m.entry)
	}
	m.entry.end(ex, outcome)
}

// Release releases the reservation of a settled exchange. Further calls have no effect.
func (m *Meter) Release() {
	if m.reservation != nil {
		m.reservation.Release()
		m.reservation = nil
	}
	if m.held != nil {
		m.held.reservation.Release()
		m.held = nil
	}
}
