// Package exchange has the types that the gateway and the transport share: the exchange,
// which is one client request with everything known about it, its attempts, their
// results, and the memory of the request body. The package imports neither of the two.
package exchange

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Exchange is one client request with everything known about it, until its record is
// written. It belongs to the goroutine that serves the request.
type Exchange struct {
	ID    string // request id, "req_" and 24 base62 characters
	Start time.Time

	Key      *aigateway.Key // nil until the credential is checked
	Covering string         // the configured name or pattern that matches the model; empty before it is known

	// Session is the seed of the session of the request, 0 if it has none. Requests of
	// one session go to the same target, API key and address.
	Session uint64

	Capture Capture // nil for almost all exchanges

	// Unchecked are the guards that have let texts pass although they could not check them.
	Unchecked []string

	// Objects seals the ids of what providers store for the client; nil if none is asked to.
	Objects *Objects

	// Opening contains the events that are sent before an answer; nil for none.
	Opening *Opening

	Request  Request
	Course   Course
	Delivery Delivery
}

// Request is the request of a client.
type Request struct {
	Operation  translate.Operation
	Counted    bool               // metrics count the request as running
	Strict     bool               // the client refuses losses that shape the answer
	Unreported bool               // its losses became known too late for the header that lists them
	InMessage  bool               // it is a message on a WebSocket, which the context of the client's request has
	Format     *format.Descriptor // of the client
	Client     http.Header
	Query      string // the part of the query that is sent to providers of the client's format
	Body       []byte // decoded, and never changed; nil when an answer has begun
	Lease      *Lease // of the memory of Body; nil if the memory has no pool
	View       translate.View
	Received   time.Duration // from the start of the exchange until the body was read; 0 before
}

// DropBody releases the memory of the request body, because a stream may last for hours.
// A call that still sends the body holds the memory itself.
func (r *Request) DropBody() {
	r.Lease.Release()
	r.Body, r.Lease, r.View.Texts = nil, nil, nil
}

// Tenant returns the tenant of the key: its user, so that all keys of a user share sealed
// reasoning, or the key itself. It is empty before the key is known.
func (e *Exchange) Tenant() string {
	if e.Key == nil {
		return ""
	}
	return cmp.Or(e.Key.Subject, e.Key.ID)
}

// Streaming reports whether the client asked for an event stream.
func (r *Request) Streaming() bool { return r.View.Stream && r.Operation != translate.CountTokens }

// Course is the course of the attempts of an exchange.
type Course struct {
	// Attempt and Result are the last attempt and its result; both are nil before the
	// first attempt, and if the gateway answers itself.
	Attempt *Attempt
	Result  *Result
	Status  int32    // of an answer that is passed on as it is; 0 before it, and for others
	asked   int32    // targets that were asked before the last attempt
	current *Conduit // of Attempt and Result

	Calls      []CallSummary // the calls of providers that have ended, in their order
	PassedOver []PassedOver  // targets that were not asked although it was their turn
}

// Begin makes a the current attempt. asked is the number of targets that were asked before.
func (c *Course) Begin(a *Conduit, asked int) {
	c.Attempt, c.Result, c.asked, c.current = &a.Attempt, &a.Result, int32(asked), a
}

// End adds a call to Calls, unless its target was not asked.
func (c *Course) End(call *Conduit) {
	if call.Result.State != Unasked {
		c.Calls = append(c.Calls, call.Summary())
		call.Result.Reading.ended = true
	}
}

// Beside adds a call that was made beside that of the current attempt, and has ended before it.
func (c *Course) Beside(call *Conduit) {
	c.End(call)
	c.asked++
}

// Straight reports whether the first target whose turn it was has answered its only call.
func (c *Course) Straight() bool {
	calls := len(c.Calls)
	if c.running() {
		calls++
	}
	return calls == 1 && len(c.PassedOver) == 0 && c.Result != nil && c.Result.Whole()
}

// running reports whether the last attempt is a call that has not ended.
func (c *Course) running() bool {
	return c.current != nil && !c.current.Result.Reading.ended && c.current.Result.State != Unasked
}

// CallsSoFar returns the calls of providers, with the one that is running.
func (c *Course) CallsSoFar() []CallSummary {
	if c.running() {
		return append(slices.Clip(c.Calls), c.current.Summary())
	}
	return c.Calls
}

// AnswerItself removes the last attempt, because the gateway answers without a provider.
func (c *Course) AnswerItself() {
	c.asked = int32(c.Attempts())
	c.Attempt, c.Result, c.current = nil, nil, nil
}

// Attempts returns the number of targets that were asked so far. A target that is asked again
// counts once. One that could not take the request was not asked.
func (c *Course) Attempts() int {
	if c.Result == nil || c.Result.State == Unasked || c.Attempt.Choice == Repeated {
		return int(c.asked)
	}
	return int(c.asked) + 1
}

// PassOver records that a target was not asked although it was its turn.
func (c *Course) PassOver(provider, model string, why Reason) {
	c.PassedOver = append(c.PassedOver, PassedOver{Provider: provider, Model: model, Reason: why, Earlier: len(c.Calls)})
}

// Delivery is what the client has got.
type Delivery struct {
	FirstByte time.Time // when the first byte of an answer was sent
	Outcome   Outcome
	Fault     *fault.Fault // that was sent, nil for none
}

// Outcome is how an exchange ended.
type Outcome string

// The outcomes.
const (
	Answered     Outcome = "answered"      // a whole answer was sent
	Refused      Outcome = "refused"       // the gateway refused the request before any call
	Failed       Outcome = "failed"        // no target answered
	Cut          Outcome = "cut"           // the answer broke off after content had been sent
	ClientClosed Outcome = "client_closed" // the client disconnected first
)

// Attempt is a target that is called in one format. It does not change during its calls.
type Attempt struct {
	Exchange *Exchange
	Provider string             // name of the provider in the configuration
	Service  string             // name of its preset
	Format   *format.Descriptor // of the provider
	Model    string             // the provider's own model name
	APIKey   int                // index in the API keys of the provider
	Choice   Choice             // why the target is called
	Traits   *trait.Traits      // of the target

	// Seals seals and opens reasoning for the tenant of the exchange and the provider. It is
	// set for translated requests only.
	Seals *seal.Sealer

	// Encrypted are the parts of the body with encrypted reasoning of earlier turns that the
	// byte lane leaves out, because the provider could not decrypt it.
	Encrypted []translate.Span

	// Cache is the cache of answers; nil if the answer may not come from one.
	Cache *Cache

	// BytesPerToken is the divisor for estimates of the request's tokens; 0 for the
	// default.
	BytesPerToken float64
}

// ByteLane reports whether the provider gets the client's bytes, without translation.
func (a *Attempt) ByteLane() bool { return a.Format == a.Exchange.Request.Format }
