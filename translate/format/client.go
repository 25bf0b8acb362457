package format

import (
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Client is how clients of a format use HTTP.
type Client struct {
	// Endpoints are the paths that clients ask, the first of which begins the paths
	// of the others.
	Endpoints []Endpoint
	// Versions are the first segments of paths that mean the same, that of Endpoints first;
	// nil for a format with one version.
	Versions []string
	// Refusals are further requests that clients may send. The gateway has no answer to
	// them, but an explanation.
	Refusals []Refusal
	// KeyHeader is a header, in canonical form, that may hold the key in place of
	// Authorization; "" for none.
	KeyHeader string
	// KeyParameter is a parameter of the query that may hold the key as well; "" for none.
	KeyParameter string
	// Marks are headers, in canonical form, that only clients of the format send. They tell
	// requests for paths of several formats apart.
	Marks []string
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
	Path      string // with Placeholder for the name of a model, if bodies do not state that
	Operation translate.Operation
	// Stream reports that answers are streams, and Parameter is a parameter of the query,
	// "name=value", that requests must have. Both are for formats whose bodies do not state
	// the kind of the answer.
	Stream    bool
	Parameter string
}

// Takes reports whether the endpoint has a method and exactly a path.
func (e *Endpoint) Takes(method, path string) bool { return e.Method == method && e.Path == path }

// Placeholder is the part of a path that is the name of a model. The name may contain slashes
// and colons.
const Placeholder = "{model}"

// Around returns the path in front of the name of a model and behind it. ok is false if the path
// has none.
func (e *Endpoint) Around() (prefix, suffix string, ok bool) {
	return strings.Cut(e.Path, Placeholder)
}

// PathOf returns the path of the endpoint for an operation, "" if clients of the format have none.
func (c *Client) PathOf(op translate.Operation) string {
	for i := range c.Endpoints {
		if c.Endpoints[i].Operation == op {
			return c.Endpoints[i].Path
		}
	}
	return ""
}

// Canonical returns a path with the first version of the format in place of another one.
func (c *Client) Canonical(path string) string {
	root, rest := cutRoot(path)
	for _, version := range c.Versions {
		if rest, ok := strings.CutPrefix(rest, version+"/"); ok {
			return root + c.Versions[0] + "/" + rest
		}
	}
	return path
}

// DialectOf returns the dialect of conversations on a WebSocket of an operation, nil for other messages.
func (c *Client) DialectOf(op translate.Operation) *realtime.Dialect {
	i := slices.IndexFunc(c.Refusals, func(r Refusal) bool { return r.Operation == op && r.Dialect != nil })
	if i < 0 {
		return nil
	}
	return c.Refusals[i].Dialect
}

// Refusal is a request that is refused.
type Refusal struct {
	Path    string // "{id}" matches any one segment
	Method  string // "" for any one that has no endpoint at the path
	Upgrade string // the protocol, in lower case, that the request asks to change to; "" if that does not matter
	Fault   func() *fault.Fault

	Operation translate.Operation // of the WebSocket that Upgrade asks for
	Dialect   *realtime.Dialect   // of a conversation on it; nil for other messages
	Secret    bool                // the request makes a client secret for such a conversation
}

// Quotas contains the names of the headers, in canonical form, with the remaining quota
// of a client's key.
type Quotas struct {
	Requests, Tokens QuotaHeaders
	// Reset writes the time, counted from now, after which a limit is as new.
	Reset func(now time.Time, wait time.Duration) string
	// Budget returns the headers, as names and values, that show a person the use of a budget. Nil: no
	// client of the format shows it.
	Budget func(BudgetUse) []string
	// Claims are the names of the headers of Budget that errors do not have.
	Claims []string
}

// BudgetUse is the use of a budget.
type BudgetUse struct {
	Share  float64   // what is spent, as a share of the amount; may exceed 1
	Period string    // "day", "week", "month", or another
	Renews time.Time // when the budget begins anew; zero with Ended: the use is not shown
	Ended  bool      // the budget refuses the request
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
