package fault

import (
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The faults of this file blame the client. Each sentence that a client can
// read stands here once, so that every endpoint says the same.

// codeInvalidJSON and codeInvalidValue are codes of chat and completions bodies.
const (
	codeInvalidJSON  = "invalid_json"
	codeInvalidValue = "invalid_value"
)

// NoCredential refuses a request without a key, which may also be in another
// header than Authorization (named in lower case), "" for none.
func NoCredential(other string) *Fault {
	message := "no credential: send 'Authorization: Bearer <key>'"
	if other != "" {
		message += " or '" + other + ": <key>'"
	}
	return &Fault{Kind: Unauthenticated, Message: message, Final: true}
}

// BadKey refuses a key that is unknown, revoked or disabled.
func BadKey() *Fault {
	f := ExpiredKey()
	f.Final = true
	return f
}

// ExpiredKey refuses a key whose time is over, with the words of BadKey. It is
// not final: a client that renews its keys by itself asks for the next one
// after a 401, and some do only where they may retry.
func ExpiredKey() *Fault {
	return &Fault{Kind: Unauthenticated, Message: "the API key is not valid", Code: "invalid_api_key"}
}

// MistypedKey refuses an unknown key of the gateway's own form whose checksum
// is wrong, so that whoever mistyped it need not wonder whether it was revoked.
func MistypedKey() *Fault {
	return &Fault{
		Kind: Unauthenticated, Message: "the API key is not valid: its checksum does not match, a part of it is missing or mistyped",
		Code: "invalid_api_key", Final: true,
	}
}

// NetworkNotAllowed refuses a key that is bound to other addresses.
func NetworkNotAllowed() *Fault {
	return &Fault{Kind: Forbidden, Message: "this key may not be used from this address", Code: "permission_denied", Final: true}
}

// CredentialRepeated refuses a credential header (named in lower case) that
// was sent twice or with two values.
func CredentialRepeated(header string) *Fault {
	return &Fault{Kind: Invalid, Message: header + ": must be sent once, with one value"}
}

// ModelNotAllowed refuses a model that the key may not use.
func ModelNotAllowed(model string) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "this key may not use model '" + model + "'",
		Param: "model", Code: "permission_denied", Final: true,
	}
}

// UnknownModel refuses a model that no provider serves.
func UnknownModel(model string) *Fault {
	return &Fault{
		Kind: NotFound, Message: "model: '" + model + "' is not known",
		Param: "model", Code: "model_not_found",
	}
}

// VersionMissing refuses a messages request without its version header.
func VersionMissing() *Fault {
	return &Fault{Kind: Invalid, Message: "anthropic-version: this header is required"}
}

// VersionInvalid refuses a version header that is not a date.
func VersionInvalid(value string) *Fault {
	return wrongVersion(value, "is not a date of the form YYYY-MM-DD")
}

// VersionTooOld refuses a version before the first.
func VersionTooOld(value string) *Fault {
	return wrongVersion(value, "must be 2023-01-01 or later")
}

// wrongVersion shows the header's value, unless it is too long or has bytes that
// do not belong into a sentence.
func wrongVersion(value, why string) *Fault {
	f := &Fault{Kind: Invalid, Message: "anthropic-version: " + why}
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if len(value) <= maxShownValue && !strings.ContainsFunc(value, odd) {
		f.Message, f.Logged = "anthropic-version: '"+value+"' "+why, f.Message
	}
	return f
}

// maxShownValue bounds the values of closed sets that a message repeats.
const maxShownValue = 64

// OnLossInvalid refuses an unknown value of the header that asks for strictness.
func OnLossInvalid() *Fault {
	return &Fault{Kind: Invalid, Message: "x-gateway-on-loss: must be 'warn' or 'reject'"}
}

// NotJSON refuses a content type that is present and not JSON.
func NotJSON() *Fault {
	return &Fault{Kind: UnsupportedMediaType, Message: "content-type: must be application/json"}
}

// CodingUnsupported refuses a content coding that the gateway cannot decode.
func CodingUnsupported() *Fault {
	return &Fault{
		Kind: UnsupportedMediaType, Message: "content-encoding: must be gzip, zstd, deflate or br",
		ErrorCode: "request_body_encoding_unsupported",
	}
}

// CodingBroken refuses a body that is not what its content coding says.
func CodingBroken(coding string, cause error) *Fault {
	return &Fault{
		Kind: Invalid, Message: "request body: broken " + coding + " data",
		ErrorCode: "request_body_encoding_invalid", Cause: cause,
	}
}

// BodyTooLarge refuses a body of more than limit bytes as sent.
func BodyTooLarge(limit int64) *Fault {
	return &Fault{
		Kind: TooLarge, Message: fmt.Sprintf("request body: larger than the limit of %d bytes", limit),
		Code: "request_too_large",
	}
}

// DecodedBodyTooLarge refuses a compressed body of more than limit bytes once
// decoded.
func DecodedBodyTooLarge(limit int64) *Fault {
	f := BodyTooLarge(limit)
	f.ErrorCode = "request_body_too_large_after_decoding"
	return f
}

// BodyUnreadable refuses a body that broke off or came too slowly.
func BodyUnreadable(cause error) *Fault {
	return &Fault{Kind: Invalid, Message: "request body: could not be read to its end", Cause: cause}
}

// BodyEmpty refuses a request without a body.
func BodyEmpty() *Fault {
	return &Fault{Kind: Invalid, Message: "request body: empty, must be a JSON object", Code: codeInvalidJSON}
}

// BodyNotObject refuses a body that is JSON, but no object.
func BodyNotObject() *Fault {
	return &Fault{Kind: Invalid, Message: "request body: must be a JSON object", Code: codeInvalidValue}
}

// Malformed refuses a body that is not valid JSON from the byte at offset on:
// bad syntax or bad UTF-8.
func Malformed(offset int, cause error) *Fault {
	return &Fault{
		Kind: Invalid, Message: fmt.Sprintf("request body: not valid JSON at byte %d", offset),
		Code: codeInvalidJSON, Cause: cause,
	}
}

// NestedTooDeeply refuses a body that is nested more than levels deep at offset.
func NestedTooDeeply(offset, levels int) *Fault {
	return &Fault{
		Kind: Invalid, Message: fmt.Sprintf("request body: nested more than %d levels deep at byte %d", levels, offset),
		Code: codeInvalidValue,
	}
}

// Repeated refuses a member that occurs twice in one object; path is that of
// the first, which ends with its name. inMap says that letter case counts there.
func Repeated(path, name string, inMap bool) *Fault {
	why := ": must appear once"
	if !inMap {
		why += ", letter case ignored"
	}
	return &Fault{
		Kind: Invalid, Message: path + why, Logged: strings.TrimSuffix(path, name) + "?" + why,
		Param: path, Code: codeInvalidJSON,
	}
}

// InvalidField refuses a field of a body; what says what is required of it.
func InvalidField(path, what string) *Fault { return InvalidValue(path, what, "") }

// InvalidValue is InvalidField with the value, as it ends the message for the
// client: ", got 'narrator'".
func InvalidValue(path, what, value string) *Fault {
	f := &Fault{Kind: Invalid, Message: path + ": " + what, Param: path, Code: codeInvalidValue}
	if value != "" {
		f.Message, f.Logged = f.Message+value, f.Message
	}
	return f
}

// NeedsState refuses a responses request that refers to what its provider keeps:
// all clients of the gateway share one account there, and another provider knows
// nothing of it.
func NeedsState(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": this gateway keeps no responses: set store to false, and send the whole conversation as input",
		Param: path, Code: CodeUntranslatable, Trait: "responses_state",
	}
}

// WrongMethod refuses a method; allowed names those that the path has.
func WrongMethod(allowed string) *Fault {
	return &Fault{Kind: MethodNotAllowed, Message: "method: must be " + allowed}
}

// UnknownPath refuses a path that the gateway does not serve. meant is the path
// of the endpoint that the client probably wants, "" where that is unknown.
func UnknownPath(meant string) *Fault {
	f := &Fault{Kind: NotFound, Message: "path: no such endpoint; ", Code: "not_found"}
	if meant == "" {
		f.Message += "there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/models and /v1/capabilities"
	} else {
		f.Message += "did you mean " + meant + "? Check the base URL of the client"
	}
	return f
}

// VersionTwice refuses a path such as /v1/v1/messages, which a base URL makes
// that ends in /v1 where the client appends /v1 itself. It is not a 404: Claude
// Code shows any 404 as a model that does not exist.
func VersionTwice() *Fault {
	return &Fault{Kind: Invalid, Message: "path: has /v1 twice; the base URL of this client must not end in /v1"}
}

// NoAccounts refuses a login where nobody can log in.
func NoAccounts() *Fault {
	return &Fault{Kind: NotFound, Message: "path: accounts are switched off here", Code: "not_found"}
}

// LimitUnknown refuses a key whose limit nobody has defined: it was meant to be
// bounded, and nobody knows how.
func LimitUnknown() *Fault {
	return &Fault{
		Kind: Forbidden, Message: "the limit of this key is not configured: an administrator has to mend that",
		Code: "permission_denied", Final: true,
	}
}

// RequestTooCostly refuses a request that may use more tokens than the key's
// limit ever allows at once. So many of them are assumed for each answer where
// the client does not say how long it may be, 0 where it does.
func RequestTooCostly(tokens, limit, assumed int64) *Fault {
	advice := "lower the bound of its answer"
	if assumed > 0 {
		advice = fmt.Sprintf("set max_tokens, without which %d are assumed for an answer", assumed)
	}
	return &Fault{
		Kind: RateLimited, Code: codeRateLimited, Final: true,
		Message: fmt.Sprintf("this request alone may use %d tokens, more than the token rate limit of %d for this key: send less, or %s", tokens, limit, advice),
	}
}

// LimitReached refuses a request over one of the key's limits; what names the
// limit, for example "request rate".
func LimitReached(what string) *Fault {
	return &Fault{
		Kind: RateLimited, Message: what + " limit reached for this key", Code: codeRateLimited,
	}
}

// Untranslatable refuses a request whose format no target of the model speaks
// and that cannot be carried over to one that a target does speak.
func Untranslatable(client translate.Format, model string, upstream translate.Format) *Fault {
	return &Fault{
		Kind: Invalid,
		Message: "model: " + string(client) + " requests cannot be translated for model '" + model +
			"' (upstream format " + string(upstream) + ")",
		Param: "model", Code: CodeUntranslatable,
	}
}

// NoTokenCount refuses to count tokens for a model without a provider that can.
func NoTokenCount(model string) *Fault {
	return &Fault{Kind: NotFound, Message: "token counting is not available for model '" + model + "'", Trait: "count_tokens"}
}

// CodeUntranslatable is the code of chat and completions bodies that refuse a
// request the provider's format has no words for.
const CodeUntranslatable = "unsupported_for_upstream"

// LateSystem refuses a system turn that is not the first, at path. The words
// are those of the vendor of the messages format: Claude Code, which sends such
// turns, sends the conversation again without them.
func LateSystem(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": role 'system' is not supported on this model",
		Param: path, Code: CodeUntranslatable, Trait: "mid_system",
	}
}
