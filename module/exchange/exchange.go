package exchange

import (
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Exchange is one client request with everything known about it until its
// usage is written. It belongs to the goroutine that serves the request.
type Exchange struct {
	ID        string // request id, "req_" and 24 base62 characters
	Start     time.Time
	Operation translate.Operation
	Format    translate.Format // what the client speaks

	Key    *Key // nil until the credential was checked
	Client http.Header
	Beta   bool   // the client sent ?beta=true
	Strict bool   // the client refuses losses that shape the answer
	Body   []byte // the request body, decoded, never changed
	Lease  *Lease // of Body's memory; nil when it belongs to no pool
	View   translate.View

	// Attempts made so far; the last one is Attempt.
	Attempts int
	Attempt  *Attempt

	FirstByte time.Time // when the first byte of an answer went to the client
	Outcome   Outcome
	Fault     *translate.Fault // what the client was told, nil when answered

	// Unreported says that the losses of the request became known too late for
	// the header that tells the client of them.
	Unreported bool
}

// Outcome says how an exchange ended.
type Outcome string

// The outcomes.
const (
	Answered     Outcome = "answered"      // a whole answer was sent
	Refused      Outcome = "refused"       // the gateway refused the request before any call
	Failed       Outcome = "failed"        // no target answered
	Cut          Outcome = "cut"           // the answer broke off after content had been sent
	ClientClosed Outcome = "client_closed" // the client went away first
)

// Attempt is one call of one target within an exchange. The gateway fills the
// first group of fields; the transport, the second; the gateway reads those
// once the call has returned.
type Attempt struct {
	Exchange *Exchange
	Provider string            // name of the provider in the configuration
	Format   translate.Format  // what is spoken to the provider
	Model    string            // the provider's own model name
	Traits   *translate.Traits // what the target can take; nil stands for the provider's

	// BytesPerToken is what estimates of the request's tokens divide by; 0 while
	// nothing is known of the model.
	BytesPerToken float64

	Fault      *translate.Fault // why the call gave no (whole) answer
	Refused    bool             // the request cannot be carried over to this target, which was not asked
	Sent       bool             // the provider may have got the request, or a part of it
	Losses     translate.Losses // what a translated request left behind
	Dropped    translate.Losses // what of a translated answer was left out
	Relayed    bool             // the provider's own error event already went to the client
	Answer     *ErrorAnswer     // the provider's error answer, where it may be relayed as it is
	Header     http.Header      // the provider's headers that the client gets: retry-after and the like of a failed answer, rate limits where the provider's traits say so
	Status     int              // the provider's status, 0 while none came
	RequestID  string           // the provider's own id of the call
	AnsweredBy string           // the model that the provider said it answered with
	Usage      translate.Usage
	Finished   bool // the answer is whole, and Usage final: terminal event seen, or a complete JSON answer
}

// ErrorAnswer is a provider's error answer, kept to be relayed byte for byte to
// a client of the same format.
type ErrorAnswer struct {
	Status      int
	ContentType string
	Body        []byte
}

// Streaming reports whether the client asked for an event stream.
func (e *Exchange) Streaming() bool { return e.View.Stream && e.Operation == translate.Generate }

// ByteLane reports whether the client's own bytes go to the provider.
func (a *Attempt) ByteLane() bool { return a.Format == a.Exchange.Format }
