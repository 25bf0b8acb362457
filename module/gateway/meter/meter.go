// Package meter counts the tokens of exchanges: what a request is expected to
// use, what it has used, and how many bytes make a token of a model.
package meter

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Estimate is the number of tokens that an exchange is expected to use.
type Estimate struct {
	Prompt   int64 // of the input
	Reserved int64 // of the input and the longest answers
	Assumed  int64 // of the longest answer, where the client sets no bound; else 0

	// Cost is the most that all of this may cost, in the currency of the budgets. Without
	// a budget it is zero.
	Cost aigateway.Cost
}

// Meter counts what one exchange uses, settles that with the limit of its key, and
// keeps its record. The zero Meter belongs to an exchange that is not admitted: it
// counts nothing. A Meter is used by one goroutine at a time.
type Meter struct {
	Estimate

	reservation aigateway.Reservation // nil without a limit, and once released
	entry       *Entry                // nil in the zero Meter
	settled     bool
	earlier     int64 // tokens that failed attempts report

	bytes int64 // of the answer, sent to the client
	lines int64 // of a stream, in those bytes
}

// New returns the Meter of an exchange with an estimate, which r has reserved of the
// limit, nil if there is no limit, and with a record.
func New(e Estimate, r aigateway.Reservation, record *Entry) Meter {
	return Meter{Estimate: e, reservation: r, entry: record}
}

// Calls returns the calls of providers that the exchange has paid for, once it is
// settled.
func (m *Meter) Calls() []aigateway.Call {
	if m.entry == nil {
		return nil
	}
	return m.entry.record.Calls
}

// AddEarlier adds the failed attempt of the exchange, which another one follows.
func (m *Meter) AddEarlier(ex *exchange.Exchange) {
	m.earlier += reported(ex.Result)
	m.entry.add(ex.Attempt, ex.Result, m.usage(ex.Result))
}

// Count counts bytes of the answer that are about to be sent; h are the headers of the
// answer. Once the answer is whole, Count settles before the bytes are sent: a client
// that has read them may send its next request before this one has returned, and the
// process may end. It releases the reservation with the last bytes and no earlier,
// because a large answer that is read slowly stays in memory.
func (m *Meter) Count(ex *exchange.Exchange, h http.Header, p []byte) {
	if m.reservation == nil && m.entry == nil {
		return
	}
	m.bytes += int64(len(p))
	if ex.Streaming() {
		m.lines += int64(bytes.Count(p, []byte{'\n'}))
	}
	if !ex.Result.Whole() {
		return
	}
	m.settle(ex, exchange.Answered)
	if ex.Streaming() || m.bytes >= contentLength(h) {
		m.Release(ex, exchange.Answered)
	}
}

// contentLength returns the length of the answer in bytes, 0 if it is unknown.
func contentLength(h http.Header) int64 {
	n, _ := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n
}

// Release settles what is not settled yet, for an exchange that ends so, and ends
// the reservation. Further calls have no effect.
func (m *Meter) Release(ex *exchange.Exchange, outcome exchange.Outcome) {
	m.settle(ex, outcome)
	if m.reservation != nil {
		m.reservation.Release()
		m.reservation = nil
	}
}

// settle replaces what is reserved by what was used, and writes the record, once.
func (m *Meter) settle(ex *exchange.Exchange, outcome exchange.Outcome) {
	if m.settled {
		return
	}
	m.settled = true
	if m.entry != nil && ex.Attempts > 0 && ex.Operation != translate.CountTokens {
		m.entry.add(ex.Attempt, ex.Result, m.usage(ex.Result))
	}
	if m.reservation != nil {
		m.reservation.Settle(aigateway.Use{Tokens: m.used(ex), Nanos: m.entry.spent(m.Cost.Currency)})
	}
	m.entry.end(ex, outcome)
}

// used returns the tokens that the exchange has used, as far as is known.
func (m *Meter) used(ex *exchange.Exchange) int64 {
	if ex.Result == nil || ex.Attempts == 0 || ex.Operation == translate.CountTokens {
		return 0
	}
	return m.earlier + m.cost(ex.Result)
}

// cost returns the tokens of the last attempt. If the provider does not report the
// final usage, it is the largest of the reported tokens, the reserved tokens, and the
// estimate by the sent bytes.
func (m *Meter) cost(r *exchange.Result) int64 {
	n := reported(r)
	if r.Whole() && n > 0 || m.bytes == 0 && unused(r) {
		return n
	}
	return max(n, m.Reserved, m.Prompt+m.sent())
}

// frameBytes is about how many bytes of each line of a stream are not text: an event of
// chat has two lines, and 200 bytes of member names.
const frameBytes = 100

// sent estimates the tokens of the sent bytes. An event has two lines or more and
// at least one token.
func (m *Meter) sent() int64 {
	return m.lines/2 + max(0, m.bytes-frameBytes*m.lines)/token.DefaultBytesPerToken
}

// maxPlausible is the most tokens that an answer can report: more than the context and the
// output of any model.
const maxPlausible = 1 << 24

// reported returns the tokens that the provider has reported for an attempt so far.
// Usage with an impossible number counts as 0, since a single one would exhaust the
// limit of a key.
func reported(r *exchange.Result) int64 {
	n := r.Usage.Total()
	if !r.Usage.Known || n > maxPlausible || r.Usage.Searches > token.MaxSearches {
		return 0
	}
	return n
}

// unused reports whether a failed attempt, of which the client got nothing, has used no
// more tokens than the provider reports, because it was never sent, or was answered by an
// error. The usage of an attempt that timed out or broke off is unknown.
func unused(r *exchange.Result) bool {
	switch r.Status {
	case 0:
		return r.State == exchange.Unasked || !r.Sent
	case http.StatusOK:
		return r.Fault != nil && !r.Fault.Interrupted()
	}
	return true
}
