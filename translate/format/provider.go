package format

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Provider is how providers of a format are called.
type Provider struct {
	// Call returns the path and the query of a call.
	Call func(Call) (path, query string)
	// Models returns the path and the query of the page of the list of models that
	// begins after an id, "" for the first page. Base is the path of the base URL.
	Models func(base, after string) (path, query string)
	// OneAnswer says that a call has one answer: several are as many calls, and each
	// of them sends the whole prompt.
	OneAnswer bool
	// Wants reports whether a provider that refused a call in another format wants
	// this one instead; nil if refusals never say that.
	Wants func(status int, message string) bool
	// MissingFor is how long a provider that answers 404 or 405 to a call is taken not
	// to have the format; 0 if these statuses say nothing about the format.
	MissingFor time.Duration
}

// Call is what the address of a call may depend on.
type Call struct {
	Base      string // the path of the base URL, without a slash at its end
	Model     string // the provider's name of the model
	Operation translate.Operation
	Stream    bool   // an event stream is asked for
	Query     string // of Client.Query, what the client has sent
}
