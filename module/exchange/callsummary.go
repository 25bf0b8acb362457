package exchange

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// CallSummary is the part of a call's result that operators see. It is kept until the
// exchange ends, unlike the result, which may contain a large error answer.
type CallSummary struct {
	Provider string             // name in the configuration
	Model    string             // the provider's own name
	Format   *format.Descriptor // of the request to the provider
	End      CallEnd
	Status   int           // of the provider; 0 before it answers
	Called   time.Time     // when the request was sent; zero if it was not
	Began    time.Time     // when the first content of a stream came; zero if none did
	Took     time.Duration // until the end
}

// PassedOver is a target that was not asked when it was its turn.
type PassedOver struct {
	Provider string // name in the configuration
	Model    string // the provider's own name
	Reason   Reason
	Earlier  int // number of calls that were made before
}

// Reason is the reason why a target was not asked. It continues a sentence that begins with
// the name of the target.
type Reason string

// The reasons.
const (
	Rests      Reason = "rests"
	Busy       Reason = "has too many requests at once"
	Unsuitable Reason = "cannot take the request"
	Costly     Reason = "may cost more than is left of a budget"
	Limited    Reason = "has used up a limit of its calls"
	Unmet      Reason = "has a condition that the request does not meet"
)

// Word returns the reason in one word: "rests", "busy", "unsuitable", "costly",
// "limited" or "unmet".
func (r Reason) Word() string {
	switch r {
	case Busy:
		return "busy"
	case Unsuitable:
		return "unsuitable"
	case Costly:
		return "costly"
	case Limited:
		return "limited"
	case Unmet:
		return "unmet"
	}
	return string(r)
}

// CallEnd is how a call of a provider ended: one of the constants, or the name of a
// fault's kind for a provider that failed.
type CallEnd string

// The ends of calls.
const (
	CallAnswered     CallEnd = "answered"      // with a whole answer
	CallCached       CallEnd = "cached"        // with a whole answer, which the cache of answers had
	CallRefused      CallEnd = "refused"       // the provider blames the request
	CallUnreachable  CallEnd = "unreachable"   // no answer came
	CallCut          CallEnd = "cut"           // the answer broke off after content
	CallClientClosed CallEnd = "client_closed" // the client disconnected first
	CallLost         CallEnd = "lost"          // another call had content first
)

// IsWhole reports whether a call ended with a whole answer.
func (e CallEnd) IsWhole() bool { return e == CallAnswered || e == CallCached }

// Summary returns the summary of a call that ends now.
func (c *Conduit) Summary() CallSummary {
	r := &c.Result
	return CallSummary{
		Provider: c.Attempt.Provider, Model: c.Attempt.Model, Format: c.Attempt.Format,
		End: r.end(), Status: r.Status, Called: r.Times.Called, Began: r.Times.Began,
		Took: time.Since(c.Attempt.Exchange.Start) - c.Started,
	}
}

func (r *Result) end() CallEnd {
	switch {
	case r.Whole() && r.Reading.Cached:
		return CallCached
	case r.Whole():
		return CallAnswered
	case r.Reading.Lost:
		return CallLost
	case r.Fault == nil:
		return CallClientClosed
	case !r.Times.Began.IsZero():
		return CallCut
	case r.Fault.BlamesRequest():
		return CallRefused
	case r.Status == 0 && r.Fault.Kind != fault.Timeout:
		return CallUnreachable
	}
	return CallEnd(r.Fault.Kind.String())
}
