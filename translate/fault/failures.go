package fault

// The faults of this file blame the gateway or a provider. Causes are kept for
// the log; they may name addresses, so the sentences never repeat them.

// codeUnusable and its neighbours are codes of chat and completions bodies.
const (
	codeUnusable    = "upstream_invalid_response"
	codeAuth        = "upstream_auth"
	codeBilling     = "upstream_billing"
	codeTimeout     = "upstream_timeout"
	codeUnreachable = "upstream_unreachable"
	codeTruncated   = "upstream_stream_truncated"
	codeOverloaded  = "overloaded"
	codeRateLimited = "rate_limit_exceeded"
)

// InternalError hides a fault of the gateway itself.
func InternalError(cause error) *Fault {
	return &Fault{Kind: Internal, Message: "internal error", Cause: cause}
}

// ShuttingDown tells a client to come back: the gateway stops or reloads.
func ShuttingDown() *Fault {
	return &Fault{Kind: Overloaded, Message: "the gateway is shutting down", Code: codeOverloaded}
}

// KeysUnavailable says that a key could not be looked up for now. It does not
// blame the key: a client would throw it away.
func KeysUnavailable() *Fault {
	return &Fault{Kind: Overloaded, Message: "keys cannot be checked right now", Code: "keys_unavailable"}
}

// NoUpstream says that no target of the model could be asked at all.
func NoUpstream(model string) *Fault {
	return &Fault{
		Kind: Overloaded, Message: "no upstream for model '" + model + "' is available",
		Code: "upstream_unavailable",
	}
}

// Unreachable says that the provider could not be reached: connecting, TLS or
// name resolution failed, or the connection broke before any header.
func Unreachable(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream could not be reached",
		Code: codeUnreachable, Cause: cause,
	}
}

// UpstreamTimeout says that the provider took too long.
func UpstreamTimeout(cause error) *Fault {
	return &Fault{Kind: Timeout, Message: "the upstream did not answer in time", Code: codeTimeout, Cause: cause}
}

// Unusable says that the provider's answer is not what its format promises.
func Unusable(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream returned an unusable answer",
		Code: codeUnusable, Cause: cause,
	}
}

// Interrupted reports whether nobody knows what a call came to that ended so: it
// was too late, or broken off, where others end by what the provider has said or
// by an answer that is none.
func (f *Fault) Interrupted() bool {
	switch f.Code {
	case codeTimeout, codeUnreachable, codeTruncated:
		return true
	}
	return f.Kind == Internal && f.Code == "" && !f.Quoted
}

// Truncated says that a stream ended without its last event.
func Truncated(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream closed the stream before completing the answer",
		Code: codeTruncated, Cause: cause,
	}
}
