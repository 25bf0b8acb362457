package exchange

import (
	"net/http"
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
	ID        string // request id, "req_" and 24 base62 characters
	Start     time.Time
	Operation translate.Operation
	Format    *format.Descriptor // of the client

	Key    *aigateway.Key // nil until the credential is checked
	Client http.Header
	Query  string // what providers of the client's format get of the query
	Strict bool   // the client refuses losses that shape the answer
	Body   []byte // the request body, decoded, never changed; nil once an answer has begun
	Lease  *Lease // of Body's memory; nil when it belongs to no pool

	// Session is the seed of the session of the request, by which it goes to the same
	// target, API key and address as others of the session; 0 if it has none.
	Session uint64
	View    translate.View

	Received time.Time // when the body was read; zero before
	Covering string    // the name or pattern of the configuration that leads to the model; empty before it is known

	// Attempts is the number of targets that were asked so far. Attempt and Result are
	// the last attempt and its result; both are nil before the first attempt, and if
	// the gateway answers itself.
	Attempts int
	Attempt  *Attempt
	Result   *Result
	Calls    []CallSummary // of providers that have ended, in their order

	// PassedOver are targets that were not asked although it was their turn.
	PassedOver []PassedOver

	Counted   bool      // by metrics
	FirstByte time.Time // when the first byte of an answer went to the client
	Outcome   Outcome
	Fault     *fault.Fault // sent to the client, nil when answered

	// Unreported is true if the losses of the request became known after the headers
	// were sent, of which one lists them.
	Unreported bool
}

// Outcome is how an exchange ended.
type Outcome string

// The outcomes.
const (
	Answered     Outcome = "answered"      // a whole answer was sent
	Refused      Outcome = "refused"       // the gateway refused the request before any call
	Failed       Outcome = "failed"        // no target answered
	Cut          Outcome = "cut"           // the answer broke off after content had been sent
	ClientClosed Outcome = "client_closed" // the client went away first
)

// Attempt is what is tried: one target, called in one format. It does not change once it
// is made.
type Attempt struct {
	Exchange *Exchange
	Provider string             // name of the provider in the configuration
	Service  string             // name of its preset
	Format   *format.Descriptor // of the provider
	Model    string             // the provider's own model name
	APIKey   int                // index of the API key among those of the provider
	Traits   *trait.Traits      // what the target accepts beside what its format states

	// Tenant is the owner of the key, and Seals seals and opens reasoning for the
	// tenant and the provider. Both are for translated requests.
	Tenant string
	Seals  *seal.Sealer

	// BytesPerToken is the divisor for estimates of the request's tokens; 0 while
	// nothing is known of the model.
	BytesPerToken float64
}

// DropBody gives the memory of the request body back, which a stream may outlast by
// hours. Calls that still send the body hold it themselves.
func (e *Exchange) DropBody() {
	e.Lease.Release()
	e.Body, e.Lease = nil, nil
}

// Streaming reports whether the client asked for an event stream.
func (e *Exchange) Streaming() bool { return e.View.Stream && e.Operation == translate.Generate }

// ByteLane reports whether the client's own bytes go to the provider.
func (a *Attempt) ByteLane() bool { return a.Format == a.Exchange.Format }
