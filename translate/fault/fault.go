package fault

import (
	"cmp"
	"fmt"
)

// Kind is the class of a fault. Status, type and code of the answer in each client
// format follow from it (wire format E.2, E.4).
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

// statuses are the HTTP statuses of the kinds, unless a format has another one.
var statuses = [...]int{
	Internal:             500,
	Invalid:              400,
	Unauthenticated:      401,
	Forbidden:            403,
	NotFound:             404,
	MethodNotAllowed:     405,
	Conflict:             409,
	TooLarge:             413,
	UnsupportedMediaType: 415,
	RateLimited:          429,
	BadGateway:           502,
	Overloaded:           503,
	Timeout:              504,
}

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

// Status returns the HTTP status of the answer to a client, unless its format has
// another one for the kind.
func (f *Fault) Status() int { return statuses[f.Kind] }
