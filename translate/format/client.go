package format

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Client is how clients of a format use HTTP.
type Client struct {
	// Endpoints are the paths that clients ask, the first of which begins the paths
	// of the others.
	Endpoints []Endpoint
	// Refusals are further requests that clients may send. The gateway has no answer to
	// them, but an explanation.
	Refusals []Refusal
	// KeyHeader is a header, in canonical form, that may hold the key in place of
	// Authorization; "" for none.
	KeyHeader string
	// Query are the parameters that providers of the format get if the client sends
	// them: "name=value".
	Query []string
	// Headers are the headers, in canonical form, that providers of the format get
	// from the client.
	Headers []string
	// AnswerID and CallID are what the ids of answers and of tool calls begin with.
	// Neither may be empty: a format whose calls have no ids uses the prefix of another.
	AnswerID, CallID string
	Quotas           Quotas
}

// Endpoint is a path of the gateway.
type Endpoint struct {
	Method    string
	Path      string
	Operation translate.Operation
}

// Refusal is a request that is refused, with any method that has no endpoint at the
// path.
type Refusal struct {
	Path    string // "{id}" matches any one segment
	Upgrade string // the protocol, in lower case, that the request asks to change to; "" if that does not matter
	Fault   func() *fault.Fault
}

// Quotas contains the names of the headers, in canonical form, with the remaining quota
// of a client's key.
type Quotas struct {
	Requests, Tokens QuotaHeaders
	// Reset writes the time, counted from now, after which a limit is as new.
	Reset func(now time.Time, in time.Duration) string
}

// QuotaHeaders are the names of the headers for one limit.
type QuotaHeaders struct{ Limit, Remaining, Reset string }

// Version is the header by which clients and providers agree on a version of the
// format. The zero value is that of a format without one.
type Version struct {
	// Header is the name of the header, in canonical form.
	Header string
	// Check refuses the values of a client's header, of which there may be none.
	Check func(values []string) *fault.Fault
	// Sent returns the version that a provider is asked for if the client named none.
	Sent func(*trait.Traits) string
}
