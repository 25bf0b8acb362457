// Package reply answers requests. Before a client has the end of its answer, the exchange
// is settled: with the limits of its key, and with the ledger.
package reply

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Reply is the answer to the request of an exchange. The sink sends it. Every method that
// ends the answer settles the exchange first: a client that has read the end may send its
// next request before this one has returned, or the process may end.
type Reply struct {
	sink.Sink
	Exchange *exchange.Exchange

	meter meter.Meter
}

// New returns the reply of an exchange to the client behind w.
func New(w http.ResponseWriter, ex *exchange.Exchange) *Reply {
	r := &Reply{Exchange: ex}
	r.Init(w, ex)
	return r
}

// Charge sets the meter that counts what the exchange uses.
func (r *Reply) Charge(m meter.Meter) { r.meter = m }

// Calls returns the calls of providers in the record. It is complete when the reply is
// closed.
func (r *Reply) Calls() []accounting.Call { return r.meter.Calls() }

// HoldCall sets the reservation of the next attempt in the limits of its target, which the reply settles
// with the exchange, or before another attempt. currency is that of the budgets, empty without one.
func (r *Reply) HoldCall(reservation aigateway.Reservation, currency string) {
	r.meter.HoldCall(r.Exchange, reservation, currency)
}

// Next makes c the current attempt of the exchange, after asked targets. Its answer replaces
// that of the attempt before, whose usage is counted.
func (r *Reply) Next(c *exchange.Conduit, asked int) {
	if r.Exchange.Course.Result != nil {
		r.meter.AddFailed(r.Exchange)
	}
	r.Exchange.Course.Begin(c, asked)
	r.Sink.Next()
}

// Lost counts a call that was made beside that of the current attempt, and has ended without an answer.
func (r *Reply) Lost(c *exchange.Conduit) {
	r.Exchange.Course.Beside(c)
	r.meter.AddLost(r.Exchange, c)
}

// Write sends bytes of the answer of the current attempt, as Sink.Write does. It settles the
// exchange before the last bytes. It releases the reservation only with the last bytes,
// because a large answer stays in memory while the client reads it slowly.
func (r *Reply) Write(p []byte) (int, error) {
	sent, ok := r.Sink.Begin()
	if !ok {
		return len(p), nil
	}
	if r.Exchange.Course.Result.Whole() {
		r.meter.Settle(r.Exchange, exchange.Answered)
		if r.Exchange.Request.Streaming() || sent+int64(len(p)) >= contentLength(r.Header()) {
			r.meter.Release()
		}
	}
	return r.Sink.Write(p)
}

// contentLength returns the length of an answer in bytes, 0 if it is unknown.
func contentLength(h http.Header) int64 {
	n, _ := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n
}

// Fail ends the answer with a fault, as Sink.Fail does.
func (r *Reply) Fail(f *fault.Fault) {
	r.settleFault(f)
	r.Sink.Fail(f)
}

// RelayError ends the answer with the error of a provider, as Sink.RelayError does.
func (r *Reply) RelayError(upstream *exchange.Result) {
	r.settleFault(upstream.Fault)
	r.Sink.RelayError(upstream)
}

// settleFault settles the exchange, if the client is about to get a fault.
func (r *Reply) settleFault(f *fault.Fault) {
	r.Exchange.Delivery.Fault = cmp.Or(r.Exchange.Delivery.Fault, f)
	if outcome, ok := r.Sink.Ending(); ok {
		r.settle(outcome)
	}
}

// WriteJSON sends a whole JSON answer of the gateway itself, with status 200.
func (r *Reply) WriteJSON(body []byte) {
	r.settle(exchange.Answered)
	r.Sink.WriteJSON(body)
}

// Upgrade settles the exchange, and leaves the connection of the client to another writer: the client
// gets another protocol, in place of an answer.
func (r *Reply) Upgrade() {
	r.settle(exchange.Answered)
	_, _ = r.Sink.Close(false)
	r.Exchange.Delivery.Outcome = exchange.Answered
}

// Finish ends an answer after content was sent. A stream that broke off gets an error event,
// unless the provider's own error event was relayed.
func (r *Reply) Finish(result *exchange.Result) {
	switch result.State {
	case exchange.Relayed:
		r.Exchange.Delivery.Fault = result.Fault
	case exchange.Broken:
		r.Fail(result.Fault)
	}
}

// Close cancels a running call, sets the outcome of the exchange, and settles it. clientGone
// reports whether the request of the client has ended. After Close, nothing is sent. Further
// calls have no effect. Close reports whether the connection has to be closed; see sink.End.
func (r *Reply) Close(clientGone bool) (aborts bool) {
	end, open := r.Sink.Close(clientGone)
	if open {
		r.Exchange.Delivery.Outcome = end.Outcome
	}
	r.settle(r.Exchange.Delivery.Outcome)
	return end.Aborts
}

// settle settles the exchange, if that was not done before, and releases its reservation.
func (r *Reply) settle(outcome exchange.Outcome) {
	r.meter.Settle(r.Exchange, outcome)
	r.meter.Release()
}
