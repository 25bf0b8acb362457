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
	Internal             Kind = iota // 500: a fault of the gateway, or a provider's 500
	Invalid                          // 400: the request is at fault
	Unauthenticated                  // 401: no usable key of this gateway
	Forbidden                        // 403
	NotFound                         // 404
	MethodNotAllowed                 // 405
	Conflict                         // 409
	TooLarge                         // 413
	UnsupportedMediaType             // 415
	UpgradeRefused                   // 426: another protocol than HTTP is asked for
	RateLimited                      // 429
	Exhausted                        // 429: no money is left
	BadGateway                       // 502: the provider is at fault
	CredentialRefused                // 502: the provider does not accept the credential of the gateway
	AccountExhausted                 // 429: the gateway's account with the provider has no credit
	Overloaded                       // 529 to messages clients, 503 to others
	Timeout                          // 504
)

// names are the names of the kinds in logs and metrics.
var names = [...]string{
	Internal:             "internal",
	Invalid:              "invalid",
	Unauthenticated:      "unauthenticated",
	Forbidden:            "forbidden",
	NotFound:             "not_found",
	MethodNotAllowed:     "method_not_allowed",
	Conflict:             "conflict",
	TooLarge:             "too_large",
	UnsupportedMediaType: "unsupported_media_type",
	UpgradeRefused:       "upgrade_refused",
	RateLimited:          "rate_limited",
	Exhausted:            "exhausted",
	BadGateway:           "bad_gateway",
	CredentialRefused:    "credential_refused",
	AccountExhausted:     "account_exhausted",
	Overloaded:           "overloaded",
	Timeout:              "timeout",
}

// String returns the name of the kind: "rate_limited".
func (k Kind) String() string { return names[k] }

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
	UpgradeRefused:       426,
	RateLimited:          429,
	Exhausted:            429,
	BadGateway:           502,
	CredentialRefused:    502,
	AccountExhausted:     429,
	Overloaded:           503,
	Timeout:              504,
}

// Fault is an error that a client may read. Its message is written for clients and has
// no prompt, key or address of a provider. Cause is for the log alone.
type Fault struct {
	Kind    Kind
	Message string // "<path>: <what is required>", lower case, no final period
	Param   string // path of the field at fault; chat and completions bodies repeat it
	Code    string // code of chat and completions bodies; "" is written as null
	// Details is the error.details object of messages bodies, nil for none: JSON, of the
	// gateway or of a provider of the format. Clients branch on its members.
	Details []byte
	Cause   error
	Log     Log
	// Final is true if the same request fails again until somebody acts. The answer has
	// the header "x-should-retry: false", without which official clients retry 401 and
	// 5xx, some of them silently for minutes.
	Final bool
	// RetryAfter is the time in seconds after which a client may try again, 0 if it is
	// not known.
	RetryAfter int
	// Blame is what a provider blames the request for.
	Blame Blame
	// Quoted is true if Message is the wording of a provider. It may quote the request,
	// so it is for the client alone: the log gets LogMessage.
	Quoted bool
	status int // that of WithStatus, 0 for that of the kind
}

// Log contains what only the log has of a fault: the client does not get it.
type Log struct {
	// Message replaces that of the fault, if that quotes the request: a value in a wrong
	// place may be a prompt or a key. "" means that it does not.
	Message string
	// Trait is the name of the trait because of which the request is refused, "" for
	// none. Clients cannot set traits.
	Trait string
	// Target is the target without the price that a budget needs, "provider/model"; "" for other faults.
	Target string
}

// BlamesRequest reports whether the fault is that of a provider which blames the request.
func (f *Fault) BlamesRequest() bool { return f.Blame.Reason != "" }

// LogMessage returns the part of Message that may be logged.
func (f *Fault) LogMessage() string {
	if f.Quoted {
		return fmt.Sprintf("the upstream's own words, %d bytes", len(f.Message))
	}
	return cmp.Or(f.Log.Message, f.Message)
}

// Add appends a text to the message. It must not quote the request.
func (f *Fault) Add(text string) {
	f.Message += text
	if f.Log.Message != "" {
		f.Log.Message += text
	}
}

// Reworded returns the fault in the words of a format, for an Excess that its clients would not
// recognize: with another message, path of the field at fault and code.
func (f *Fault) Reworded(message, param, code string) *Fault {
	reworded := *f
	reworded.Message, reworded.Param, reworded.Code = message, param, code
	return &reworded
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Status returns the HTTP status of the answer to a client, unless the format of the
// client has a status of its own for the kind.
func (f *Fault) Status() int { return cmp.Or(f.status, statuses[f.Kind]) }

// WithStatus returns a copy of the fault that has this status in place of that of its kind: that
// of a provider's answer, which clients of the provider's format get.
func (f *Fault) WithStatus(status int) *Fault {
	changed := *f
	changed.status = status
	return &changed
}
