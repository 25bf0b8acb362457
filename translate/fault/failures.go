package fault

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The faults of this file blame the gateway or a provider. Messages never repeat the
// cause, which may name an address.

// The codes of chat and completions bodies.
const (
	codeUnusable    = "upstream_invalid_response"
	codeAuth        = "upstream_auth"
	codeTimeout     = "upstream_timeout"
	codeUnreachable = "upstream_unreachable"
	codeTruncated   = "upstream_stream_truncated"
	codeBrokenOff   = "upstream_answer_failed"
	codeLimited     = "upstream_account_limited"
	codeUnplaced    = "upstream_answer_unsupported"
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

// CacheUnavailable returns the fault of a request to remove cached answers from a store that does
// not answer.
func CacheUnavailable(cause error) *Fault {
	return &Fault{Kind: Overloaded, Message: "cached answers cannot be removed right now", Code: "cache_unavailable", RetryAfter: 1, Cause: cause}
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

// Crowded refuses a request that has found no place among those that wait for the upstream of a model, ""
// for the gateway, or that has waited too long. seconds is the time that it would wait now.
func Crowded(model string, seconds int) *Fault {
	what := "the gateway"
	if model != "" {
		what = string(Upstream(model))
	}
	return &Fault{
		Kind: RateLimited, Message: "too many requests wait for " + what + ": try again later",
		Code: codeRateLimited, RetryAfter: max(1, seconds),
	}
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

// Redirected returns the fault of a provider that redirects to another address.
func Redirected() *Fault {
	return &Fault{Kind: BadGateway, Message: "the upstream answered with a redirection, which is not followed", Code: codeUnusable, Final: true}
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
// broke off, in the middle of its content coding, too.
func (f *Fault) Interrupted() bool {
	switch f.Code {
	case codeTimeout, codeUnreachable, codeTruncated:
		return true
	case codeUnusable:
		return errors.Is(f.Cause, io.ErrUnexpectedEOF)
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

// BrokenOff returns the fault of an answer that the provider itself has ended as failed, with a
// word for the reason. explanation is for the log alone, since it may quote the answer.
func BrokenOff(word, explanation string) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream broke the answer off: " + shownWord(word),
		Code: codeBrokenOff, Cause: explained(explanation),
	}
}

// IsBrokenOff reports whether the provider itself has ended the answer as failed.
func (f *Fault) IsBrokenOff() bool { return f.Code == codeBrokenOff || f.Code == codeLimited }

// AccountLimited returns the fault of an answer that the provider has ended because it limits the
// account, with a word for the reason. The account is that of the gateway or of its user, so the
// same request fails again.
func AccountLimited(word, explanation string) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "the upstream has limited the account: " + shownWord(word),
		Code: codeLimited, Cause: explained(explanation), Final: true,
	}
}

// Unplaced returns the fault of an answer of which nothing has a place in the client's format. what
// names the parts that it had.
func Unplaced(what string) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the upstream's answer has nothing that this format can express, only " + what, Code: codeUnplaced,
	}
}

const (
	maxShownWord   = 64
	maxExplanation = 256
)

// shownWord returns a word of a provider as messages show it.
func shownWord(word string) string {
	shown := []byte(word[:min(len(word), maxShownWord)])
	for i, b := range shown {
		if b >= utf8.RuneSelf || !translate.PlainByte(b) {
			shown[i] = '?'
		}
	}
	return "'" + string(shown) + "'"
}

// explained returns what a provider adds to a word as a cause, nil for nothing. It ends before
// a part that may quote the request or the answer.
func explained(text string) error {
	if text == "" {
		return nil
	}
	end := strings.IndexAny(text, "([{<\"'`\n") // where texts begin to quote
	if end < 0 {
		end = len(text)
	}
	return fmt.Errorf("the upstream explains: %s", strings.ToValidUTF8(text[:min(end, maxExplanation)], "?"))
}
