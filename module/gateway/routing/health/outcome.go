package health

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Class is the meaning of an attempt's end for the health of its target.
type Class uint8

// The classes.
const (
	Unknown           Class = iota // none: the request caused the failure, or the client has left
	Healthy                        // the target has answered
	Failed                         // the provider has failed, or could not be reached
	RateLimited                    // the provider refuses the rate of requests
	Overloaded                     // the provider has no capacity
	TimedOut                       // the provider did not answer in time
	CredentialRefused              // the provider does not accept the API key
	AccountExhausted               // the account of the API key has no credit
)

var classNames = [...]string{
	"unknown", "healthy", "failed", "rate_limited", "overloaded", "timed_out", "credential_refused", "account_exhausted",
}

// String returns the name of the class in logs and in the admin API.
func (c Class) String() string { return classNames[c] }

// ofKey reports whether the API key caused the failure, so that all models fail.
func (c Class) ofKey() bool { return c == CredentialRefused || c == AccountExhausted }

// Outcome is how an attempt ended, for the health of its target.
type Outcome struct {
	Class      Class
	RetryAfter time.Duration // the wait that the provider asks for, 0 for none
}

// OutcomeOf returns the outcome of an attempt. It is Unknown for other operations than the
// generation of text: they do not show whether the target can generate, and clients can provoke
// their failures, by asking for embeddings of a model that has none. Nor does an answer of the cache.
// A first call that lost to a hedge has timed out: the target was silent for the time of the hedge, and
// for the time that the other target needed. The hedge itself may have lost after a moment.
func OutcomeOf(a *exchange.Attempt, r *exchange.Result) Outcome {
	switch {
	case a.Exchange.Request.Operation != translate.Generate, r.Reading.Cached:
		return Outcome{}
	case r.Whole(), r.Fault == nil && r.State == exchange.Content, r.Fault == nil && r.State == exchange.Finishing:
		return Outcome{Class: Healthy}
	case r.Reading.Lost && a.Choice != exchange.Hedged:
		return Outcome{Class: TimedOut}
	case r.Fault == nil || r.State == exchange.Unasked:
		return Outcome{}
	}
	o := Outcome{Class: classOf(r)}
	if o.Class == RateLimited || o.Class == Overloaded {
		o.RetryAfter = r.Head.RetryAfter()
	}
	return o
}

// BlamesKey reports whether a failed attempt may succeed with another API key of the
// provider.
func BlamesKey(a *exchange.Attempt, r *exchange.Result) bool {
	class := OutcomeOf(a, r).Class
	if a.Exchange.Request.Operation.Untranslated() {
		class = classOf(r)
	}
	return class.ofKey() || class == RateLimited || r.Fault.Kind == fault.Forbidden || r.Fault.Blame.Costly
}

// classOf returns the class of a failed attempt. An answer that blames the request is
// Unknown, whatever its status, because clients can provoke it: by a model that does not
// exist, for example. So is a refusal of the size of a request by an account that has credit
// for smaller ones, or of the tier of a request (498 of Groq), and a 403: OpenRouter and xAI send
// it for prompts that their moderation refuses, and firewalls for texts that look like an attack.
func classOf(r *exchange.Result) Class {
	f := r.Fault
	blamesCall := r.Status >= 400 && r.Status < 500
	switch {
	case f.BlamesRequest(), f.Blame.Costly, r.Status == 498:
		return Unknown
	case f.Kind == fault.CredentialRefused:
		return CredentialRefused
	case f.Kind == fault.AccountExhausted:
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
