package health

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Class is what the end of an attempt shows of the health of its target.
type Class uint8

// The classes.
const (
	Unknown           Class = iota // nothing: the request is to blame, or the client has left
	Healthy                        // the target has answered
	Failed                         // the provider has failed, or could not be reached
	RateLimited                    // the provider refuses to be asked so often
	Overloaded                     // the provider has no room
	TimedOut                       // the provider did not answer in time
	CredentialRefused              // the provider does not accept the API key
	AccountExhausted               // the account of the API key has no credit
)

var classNames = [...]string{
	"unknown", "healthy", "failed", "rate_limited", "overloaded", "timed_out", "credential_refused", "account_exhausted",
}

// String returns the name, as logs and the admin API have it.
func (c Class) String() string { return classNames[c] }

// ofKey reports whether the API key is at fault, whatever the model.
func (c Class) ofKey() bool { return c == CredentialRefused || c == AccountExhausted }

// Outcome is how an attempt ended, for the health of its target.
type Outcome struct {
	Class      Class
	RetryAfter time.Duration // for which the provider asks, 0 if it does not
}

// OutcomeOf returns the outcome of an attempt. A count of tokens shows nothing of what
// generates answers.
func OutcomeOf(a *exchange.Attempt, r *exchange.Result) Outcome {
	switch {
	case a.Exchange.Operation != translate.Generate:
		return Outcome{}
	case r.Whole(), r.Fault == nil && r.State == exchange.Content, r.Fault == nil && r.State == exchange.Finishing:
		return Outcome{Class: Healthy}
	case r.Fault == nil || r.State == exchange.Unasked:
		return Outcome{}
	}
	o := Outcome{Class: classOf(r)}
	if o.Class == RateLimited || o.Class == Overloaded {
		o.RetryAfter = RetryAfter(r.Header)
	}
	return o
}

// BlamesKey reports whether another API key of the provider may answer a request that
// has failed so.
func BlamesKey(a *exchange.Attempt, r *exchange.Result) bool {
	class := OutcomeOf(a, r).Class
	return class.ofKey() || class == RateLimited || r.Fault.Kind == fault.Forbidden
}

// classOf returns the class of a failed attempt. A client can provoke answers that blame
// the request, with a model that does not exist for example, so these show nothing,
// whatever their status. Nor does a 403: OpenRouter and xAI answer 403 to prompts that
// their moderation refuses, and firewalls to texts that look like an attack.
func classOf(r *exchange.Result) Class {
	f := r.Fault
	blamesCall := r.Status >= 400 && r.Status < 500
	switch {
	case f.Reason != "":
		return Unknown
	case f.CredentialRefused():
		return CredentialRefused
	case f.AccountExhausted():
		return AccountExhausted
	case f.Kind == fault.RateLimited:
		return RateLimited
	case f.Kind == fault.Overloaded:
		return Overloaded
	case f.Kind == fault.Timeout:
		return TimedOut
	case f.Kind == fault.BadGateway && !blamesCall:
		return Failed
	case f.Kind == fault.Internal && (r.Status >= 500 || f.Quoted):
		return Failed
	}
	return Unknown
}

// RetryAfter returns the time after which a provider wants to be asked again, by the
// headers of its answer; 0 if they do not show it.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}
