package fault

import (
	"cmp"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Kind is the class of a fault. Status, type name and code of the answer in
// each client format follow from it by one table (wire format E.2, E.4).
type Kind uint8

// The kinds.
const (
	Internal             Kind = iota // 500: our own fault, or a provider's 500
	Invalid                          // 400: the request is at fault
	Unauthenticated                  // 401: no usable key of this gateway
	Forbidden                        // 403
	NotFound                         // 404
	MethodNotAllowed                 // 405
	Conflict                         // 409
	TooLarge                         // 413
	UnsupportedMediaType             // 415
	RateLimited                      // 429
	BadGateway                       // 502: the provider is at fault
	Overloaded                       // 529 to messages clients, 503 to others
	Timeout                          // 504
)

// kinds says what each kind is called on the wire. Official SDKs choose their
// exception by status and type, so no name outside these may ever appear.
var kinds = [...]struct {
	status   int
	messages string // error.type of messages bodies
	choices  string // error.type of chat and completions bodies
}{
	Internal:             {500, "api_error", "server_error"},
	Invalid:              {400, "invalid_request_error", "invalid_request_error"},
	Unauthenticated:      {401, "authentication_error", "invalid_request_error"},
	Forbidden:            {403, "permission_error", "invalid_request_error"},
	NotFound:             {404, "not_found_error", "invalid_request_error"},
	MethodNotAllowed:     {405, "invalid_request_error", "invalid_request_error"},
	Conflict:             {409, "conflict_error", "invalid_request_error"},
	TooLarge:             {413, "request_too_large", "invalid_request_error"},
	UnsupportedMediaType: {415, "invalid_request_error", "invalid_request_error"},
	RateLimited:          {429, "rate_limit_error", "rate_limit_error"},
	BadGateway:           {502, "api_error", "server_error"},
	Overloaded:           {503, "overloaded_error", "server_error"},
	Timeout:              {504, "timeout_error", "server_error"},
}

// statusOverloaded is what messages clients know for 503.
const statusOverloaded = 529

// Fault is an error that a client may read. Its message is written by hand for
// that reader and holds no prompt, key or upstream address. The private cause
// travels beside it, in Cause, and goes to the log alone.
type Fault struct {
	Kind    Kind
	Message string // "<path>: <what is required>", lower case, no final period
	Param   string // path of the field at fault; chat and completions bodies repeat it
	Code    string // code of chat and completions bodies; "" is written as null
	// ErrorCode is the error.details.error_code of messages bodies, "" for none.
	ErrorCode string
	// Unsupported is the error.details.unsupported list of messages bodies.
	Unsupported []string
	// Details is the error.details of messages bodies as a provider of the format
	// wrote it, an object, nil for none. Clients branch on its members.
	Details []byte
	Cause   error
	// Trait is the one by which the provider's owner decides that such a request
	// is refused, in the words of a configuration; "" for none. It is for the log:
	// clients cannot set it.
	Trait string
	// Final says that the same request will fail in the same way until somebody
	// acts: the answer carries "x-should-retry: false". Official clients retry
	// 401 and 5xx without it, some of them silently for minutes.
	Final bool
	// Reason says what a provider blames the request for, and Path which field, in
	// words that a log may hold; Reason is "" where it does not blame the request.
	Reason, Path string
	// Quoted says that Message is the provider's wording. It may quote the
	// request, so it is for the client alone: the log gets LogMessage.
	Quoted bool
	// Logged is Message without what it repeats of the request, "" if it repeats
	// nothing: a value in a wrong place may be a prompt or a key.
	Logged string
}

// LogMessage is Message, or what may be logged of it.
func (f *Fault) LogMessage() string {
	if f.Quoted {
		return fmt.Sprintf("the upstream's own words, %d bytes", len(f.Message))
	}
	return cmp.Or(f.Logged, f.Message)
}

// add puts a text of the gateway's own behind the message.
func (f *Fault) Add(text string) {
	f.Message += text
	if f.Logged != "" {
		f.Logged += text
	}
}

// Error makes a Fault an error; it repeats only what a client may read.
func (f *Fault) Error() string { return f.Message }

// Unwrap gives the private cause to errors.Is and errors.As.
func (f *Fault) Unwrap() error { return f.Cause }

// Status is the HTTP status of the answer to a client of the format.
func (f *Fault) Status(format translate.Format) int {
	if f.Kind == Overloaded && format == translate.Messages {
		return statusOverloaded
	}
	return kinds[f.Kind].status
}

// Type is the error.type that a client of the format reads.
func (f *Fault) Type(format translate.Format) string {
	if format == translate.Messages {
		return kinds[f.Kind].messages
	}
	return kinds[f.Kind].choices
}
