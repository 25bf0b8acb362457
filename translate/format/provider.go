package format

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Provider is how providers of a format are called, and sign their answers.
type Provider struct {
	// Call returns the path of a call, with escapes, and its query.
	Call func(Call) (path, query string)
	// Delivery are the members of bodies that decide how the answer is sent, and nothing of what
	// it contains; nil for a format whose paths decide that.
	Delivery []string
	// ModelInPath reports that the path of a call contains the name of the model.
	ModelInPath bool
	// Models returns the path, with escapes, and the query of the page of the list of models
	// that begins after an id, "" for the first page. Base is Call.Base.
	Models func(base, last string) (path, query string)
	// OneAnswer reports that a call has only one answer: several answers take as many
	// calls, each of which sends the whole prompt.
	OneAnswer bool
	// Wants returns what a provider asks for by its refusal of a call, in this format or
	// another; nil if refusals never ask for anything.
	Wants func(status int, refusal *fault.Fault) Want
	// MissingFor is the time for which a provider that answers 404 or 405 is taken not to
	// have the format; 0 if these statuses do not depend on the format.
	MissingFor time.Duration
	// Sign returns the event by which a provider signs the reasoning before it; nil for a format
	// whose answers have no signatures.
	Sign func(signature []byte) event.Event
}

// Want is what the refusal of a call asks for.
type Want uint8

// The wants.
const (
	WantNothing           Want = iota
	WantFormat                 // of a call in another format: the request in this one
	WantWithoutReasoning       // of a call in this format: the request without the encrypted reasoning of earlier turns
	WantWithoutEncryption      // of a call in this format: the request without the demand for encrypted reasoning
)

// WantAfter returns what a refusal of a call asks for. Same is true if the call was in
// this format, which the refusal cannot ask for then.
func (p *Provider) WantAfter(same bool, status int, refusal *fault.Fault) Want {
	if p.Wants == nil {
		return WantNothing
	}
	if w := p.Wants(status, refusal); same == (w > WantFormat) {
		return w
	}
	return WantNothing
}

// Call is what the address of a call may depend on.
type Call struct {
	Base      string // the path of the base URL, with escapes and without a slash at its end
	Model     string // the provider's name of the model
	Operation translate.Operation
	Stream    bool   // an event stream is asked for
	Query     string // of Client.Query, what the client has sent
	Object    string // the path of a stored object below that of the version, with escapes, for the operation Manage
}
