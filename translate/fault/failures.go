package fault

// The faults of this file blame the gateway or a provider. Messages never repeat the
// cause, which may name an address.

// The codes of chat and completions bodies.
const (
	codeUnusable    = "upstream_invalid_response"
	codeAuth        = "upstream_auth"
	codeTimeout     = "upstream_timeout"
	codeUnreachable = "upstream_unreachable"
	codeTruncated   = "upstream_stream_truncated"
	codeOverloaded  = "overloaded"
	codeRateLimited = "rate_limit_exceeded"
	codeExhausted   = "insufficient_quota"
)

// InternalError returns a fault of the gateway itself. Only the log gets the cause.
func InternalError(cause error) *Fault {
	return &Fault{Kind: Internal, Message: "internal error", Cause: cause}
}

// ShuttingDown returns the fault of a gateway that stops or reloads. Clients may retry.
func ShuttingDown() *Fault {
	return &Fault{Kind: Overloaded, Message: "the gateway is shutting down", Code: codeOverloaded}
}

// KeysUnavailable returns the fault of a key that cannot be looked up right now. It
// does not blame the key: clients discard a key that is refused.
func KeysUnavailable() *Fault {
	return &Fault{Kind: Overloaded, Message: "keys cannot be checked right now", Code: "keys_unavailable"}
}

// LedgerUnavailable returns the fault of a request whose use cannot be recorded.
func LedgerUnavailable(cause error) *Fault {
	return &Fault{Kind: Overloaded, Message: "usage cannot be recorded right now", Code: "ledger_unavailable", Cause: cause}
}

// LedgerUnreadable returns the fault of a request for usage that cannot be read.
func LedgerUnreadable(cause error) *Fault {
	return &Fault{Kind: Overloaded, Message: "usage cannot be read right now", Code: "ledger_unavailable", Cause: cause}
}

// LimitsUnavailable returns the fault of a request whose limits cannot be checked: their
// counters or the ledger cannot be reached. Both are asked again after a second.
func LimitsUnavailable(cause error) *Fault {
	return &Fault{Kind: Overloaded, Message: "limits cannot be checked right now", Code: "limits_unavailable", RetryAfter: 1, Cause: cause}
}

// NoUpstream returns the fault of a model without an available target.
func NoUpstream(model string) *Fault {
	return &Fault{
		Kind: Overloaded, Message: "no upstream for model '" + model + "' is available",
		Code: "upstream_unavailable",
	}
}

// ProviderBusy returns the fault of a model whose provider has as many calls as it may
// have at once.
func ProviderBusy(model string) *Fault {
	return &Fault{
		Kind: Overloaded, Message: "the upstream for model '" + model + "' has too many requests at once",
		Code: codeOverloaded, RetryAfter: 1,
	}
}

// GatewayBusy returns the fault of a gateway with as many exchanges as it may have at
// once.
func GatewayBusy() *Fault {
	return &Fault{Kind: Overloaded, Message: "the gateway has too many requests at once", Code: codeOverloaded, RetryAfter: 1}
}

// Unreachable returns the fault of a provider that could not be reached: connecting,
// TLS or name resolution failed, or the connection broke before any header.
func Unreachable(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream could not be reached",
		Code: codeUnreachable, Cause: cause,
	}
}

// UpstreamTimeout returns the fault of a provider that took too long.
func UpstreamTimeout(cause error) *Fault {
	return &Fault{Kind: Timeout, Message: "the upstream did not answer in time", Code: codeTimeout, Cause: cause}
}

// Unusable returns the fault of an answer that violates the format of its provider.
func Unusable(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream returned an unusable answer",
		Code: codeUnusable, Cause: cause,
	}
}

// IsUnusable reports whether the answer violates the format of its provider.
func (f *Fault) IsUnusable() bool { return f.Code == codeUnusable }

// Interrupted reports whether the outcome of the call is unknown: it timed out or
// broke off.
func (f *Fault) Interrupted() bool {
	switch f.Code {
	case codeTimeout, codeUnreachable, codeTruncated:
		return true
	}
	return f.Kind == Internal && f.Code == "" && !f.Quoted
}

// Truncated returns the fault of a stream that ended without its last event.
func Truncated(cause error) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream closed the stream before completing the answer",
		Code: codeTruncated, Cause: cause,
	}
}
