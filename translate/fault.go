package translate

// Kind is the class of a fault. Status, type name and code of the answer in
// each client format follow from it by one table (wire format E.2, E.4).
type Kind uint8

// The kinds.
const (
	Internal             Kind = iota // 500: our own fault
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
	Cause       error
}

// Error makes a Fault an error; it repeats only what a client may read.
func (f *Fault) Error() string { return f.Message }

// Unwrap gives the private cause to errors.Is and errors.As.
func (f *Fault) Unwrap() error { return f.Cause }
