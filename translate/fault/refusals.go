package fault

import (
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The functions of this file return the faults for which the client is to blame.
// Every endpoint uses them, so that the same mistake gets the same message.

// codeInvalidJSON and codeInvalidValue are codes of chat and completions bodies.
const (
	codeInvalidJSON  = "invalid_json"
	codeInvalidValue = "invalid_value"
)

// NoCredential refuses a request without a key. other is the lower-case name of the
// header that may contain the key instead of Authorization, "" for none.
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

// ExpiredKey refuses an expired key, with the message of BadKey. The fault is not
// final: clients that renew their keys do so after a 401, and some of them only if
// they may retry.
func ExpiredKey() *Fault {
	return &Fault{Kind: Unauthenticated, Message: "the API key is not valid", Code: "invalid_api_key"}
}

// MistypedKey refuses an unknown key in the gateway's own format whose checksum is
// wrong. The message shows the user that the key is mistyped, not revoked.
func MistypedKey() *Fault {
	return &Fault{
		Kind: Unauthenticated, Message: "the API key is not valid: its checksum does not match, so a part of it is missing or mistyped, or another gateway has made it",
		Code: "invalid_api_key", Final: true,
	}
}

// BadToken refuses a signed token for a reason that its owner reads: "it has expired". final
// is false if the client may try again with another token.
func BadToken(problem string, final bool) *Fault {
	return &Fault{Kind: Unauthenticated, Message: "the token is not valid: " + problem, Code: "invalid_api_key", Final: final}
}

// TokenNotAllowed refuses a valid token that may not use the gateway.
func TokenNotAllowed(problem string) *Fault {
	return &Fault{Kind: Forbidden, Message: "the token is valid, but " + problem, Code: "permission_denied", Final: true}
}

// NetworkNotAllowed refuses a key that may not be used from the client's address.
func NetworkNotAllowed() *Fault {
	return &Fault{Kind: Forbidden, Message: "this key may not be used from this address", Code: "permission_denied", Final: true}
}

// CredentialRepeated refuses a credential header (named in lower case) that
// was sent twice or with two values.
func CredentialRepeated(header string) *Fault {
	return &Fault{Kind: Invalid, Message: header + ": must be sent once, with one value"}
}

// BadLabel refuses a tag or a customer of a request. field is the header or the field with it.
func BadLabel(field, problem string) *Fault {
	return &Fault{Kind: Invalid, Message: field + ": " + problem, Code: codeInvalidValue}
}

// ModelNotAllowed refuses a model that the key may not use.
func ModelNotAllowed(model string) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "this key may not use model '" + model + "'",
		Param: "model", Code: "permission_denied", Final: true,
	}
}

// OtherModels refuses a field by which a request lets the provider use further models, for
// a key that may use only some models or has a budget.
func OtherModels(path string) *Fault {
	return &Fault{
		Kind: Forbidden, Message: path + ": must not be sent with this key, because it lets the provider use other models",
		Param: path, Code: "permission_denied", Final: true,
	}
}

// Background refuses an answer that the provider generates in the background, for a key
// that has a budget.
func Background() *Fault {
	return &Fault{
		Kind: Forbidden, Message: "background: must not be sent with this key, because the cost of the answer remains unknown",
		Param: "background", Code: "permission_denied", Final: true,
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

// VersionTooOld refuses a version header with a date before the first version.
func VersionTooOld(value string) *Fault {
	return wrongVersion(value, "must be 2023-01-01 or later")
}

// wrongVersion returns the fault of a version header. The message contains the
// value of the header, unless it is too long or contains other bytes than printable
// ASCII.
func wrongVersion(value, why string) *Fault {
	f := &Fault{Kind: Invalid, Message: "anthropic-version: " + why}
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if len(value) <= maxShownValue && !strings.ContainsFunc(value, odd) {
		f.Message, f.Log.Message = "anthropic-version: '"+value+"' "+why, f.Message
	}
	return f
}

// maxShownValue is the length, in bytes, of the longest value that a message repeats.
const maxShownValue = 64

// UsageTooLong refuses a request for usage by day and model with too many of both.
func UsageTooLong() *Fault {
	return &Fault{
		Kind: Invalid, Message: "start_date: the days until end_date have too many models for one answer, ask for fewer days",
		Param: "start_date", Final: true,
	}
}

// OnLossInvalid refuses an unknown value of the X-Gateway-On-Loss header.
func OnLossInvalid() *Fault {
	return &Fault{Kind: Invalid, Message: "x-gateway-on-loss: must be 'warn' or 'reject'"}
}

// NotJSON refuses a Content-Type header other than JSON.
func NotJSON() *Fault {
	return &Fault{Kind: UnsupportedMediaType, Message: "content-type: must be application/json"}
}

// CodingUnsupported refuses a content coding that the gateway cannot decode.
func CodingUnsupported() *Fault {
	return &Fault{
		Kind: UnsupportedMediaType, Message: "content-encoding: must be gzip, zstd, deflate or br",
		Details: []byte(`{"error_code":"request_body_encoding_unsupported"}`),
	}
}

// CodingBroken refuses a body that cannot be decoded from its content coding.
func CodingBroken(coding string, cause error) *Fault {
	return &Fault{
		Kind: Invalid, Message: "request body: broken " + coding + " data",
		Details: []byte(`{"error_code":"request_body_encoding_invalid"}`), Cause: cause,
	}
}

// BodyTooLarge refuses a body that is longer than limit bytes as received.
func BodyTooLarge(limit int64) *Fault {
	return &Fault{
		Kind: TooLarge, Message: fmt.Sprintf("request body: larger than the limit of %d bytes", limit),
		Code: "request_too_large",
	}
}

// DecodedBodyTooLarge refuses a compressed body that is longer than limit bytes
// after decoding.
func DecodedBodyTooLarge(limit int64) *Fault {
	f := BodyTooLarge(limit)
	f.Details = []byte(`{"error_code":"request_body_too_large_after_decoding"}`)
	return f
}

// BodyUnreadable refuses a body that is incomplete or arrives too slowly.
func BodyUnreadable(cause error) *Fault {
	return &Fault{Kind: Invalid, Message: "request body: could not be read to its end", Cause: cause}
}

// BodyEmpty refuses a request without a body.
func BodyEmpty() *Fault {
	return &Fault{Kind: Invalid, Message: "request body: empty, must be a JSON object", Code: codeInvalidJSON}
}

// BodyNotObject refuses a JSON body that is not an object.
func BodyNotObject() *Fault {
	return &Fault{Kind: Invalid, Message: "request body: must be a JSON object", Code: codeInvalidValue}
}

// Malformed refuses a body that is not valid JSON, or not valid UTF-8. offset is the
// position of the first invalid byte.
func Malformed(offset int, cause error) *Fault {
	return &Fault{
		Kind: Invalid, Message: fmt.Sprintf("request body: not valid JSON at byte %d", offset),
		Code: codeInvalidJSON, Cause: cause,
	}
}

// NestedTooDeeply refuses a body that is nested more than levels deep. offset is the
// position of the value that exceeds the limit.
func NestedTooDeeply(offset, levels int) *Fault {
	return &Fault{
		Kind: Invalid, Message: fmt.Sprintf("request body: nested more than %d levels deep at byte %d", levels, offset),
		Code: codeInvalidValue,
	}
}

// Repeated refuses a member that occurs twice in one object. path is the path of the
// first occurrence and ends with name. inMap reports whether the names of the object
// are case-sensitive.
func Repeated(path, name string, inMap bool) *Fault {
	why := ": must appear once"
	if !inMap {
		why += ", letter case ignored"
	}
	return &Fault{
		Kind: Invalid, Message: path + why, Log: Log{Message: strings.TrimSuffix(path, name) + "?" + why},
		Param: path, Code: codeInvalidJSON,
	}
}

// InvalidField refuses a field of a body. what states the requirement that the
// field does not meet, such as "must be a string".
func InvalidField(path, what string) *Fault { return InvalidValue(path, what, "") }

// InvalidValue is InvalidField with a value that is appended to the client's
// message, but not to the logged one: ", got 'narrator'".
func InvalidValue(path, what, value string) *Fault {
	f := &Fault{Kind: Invalid, Message: path + ": " + what, Param: path, Code: codeInvalidValue}
	if value != "" {
		f.Message, f.Log.Message = f.Message+value, f.Message
	}
	return f
}

// NeedsState refuses a request that refers to an object stored by the provider. All
// clients of the gateway share one account there, and other providers do not have the
// object. The gemini format has neither the member store nor an input.
func NeedsState(path string) *Fault {
	if path == "cachedContent" {
		return NeedsOwner(path)
	}
	return &Fault{
		Kind: Invalid, Message: path + ": this gateway keeps no responses: set store to false, and send the whole conversation as input",
		Param: path, Code: CodeUntranslatable, Log: Log{Trait: "responses_state"},
	}
}

// WrongMethod refuses a method that the path does not have; allowed lists those that it has.
func WrongMethod(allowed string) *Fault {
	return &Fault{Kind: MethodNotAllowed, Message: "method: must be " + allowed}
}

// PathAmbiguous refuses a path that servers could read in different ways.
func PathAmbiguous() *Fault {
	return &Fault{Kind: Invalid, Message: "path: must have no empty segments, no dot segments, no backslashes, and no escapes that are not needed", Code: codeInvalidValue, Final: true}
}

// NotPassed refuses a path that no rule passes on to the provider.
func NotPassed() *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway does not pass it on", Code: "not_found", Final: true}
}

// PassDenied refuses a path that a rule excepts, or that is of the administration of the provider's
// account.
func PassDenied() *Fault { return notAllowed("path: this gateway does not allow it") }

// ObjectNotPassed refuses a request about objects that the provider stores for all clients.
func ObjectNotPassed() *Fault {
	return notAllowed("path: this gateway does not pass on requests about stored objects, because it does not know whose they are")
}

// ObjectsNotListed refuses to list the objects that the provider stores for all clients.
func ObjectsNotListed() *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway lists no stored objects, since the provider's list has those of all clients", Code: "not_found", Final: true}
}

// PassUnseen refuses to pass on a request for a reason why the gateway would have to see what is in it.
func PassUnseen(reason string) *Fault {
	return notAllowed("this key may not call the endpoint: " + reason)
}

func notAllowed(message string) *Fault {
	return &Fault{Kind: Forbidden, Message: message, Code: "permission_denied", Final: true}
}

// UnknownPath refuses a path that the gateway does not serve. prefix is what the site has cut off
// the path, and meant the path of the endpoint that the client probably wants, "" if it is unknown.
func UnknownPath(prefix, meant string) *Fault {
	f := &Fault{Kind: NotFound, Message: "path: no such endpoint; ", Code: "not_found"}
	if meant == "" {
		if prefix != "" {
			f.Message += "below " + prefix + " "
		}
		f.Message += "there are /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/completions, /v1/responses, /v1/responses/input_tokens, /v1/models and /v1/capabilities"
	} else {
		f.Message += "did you mean " + prefix + meant + "? Check the base URL of the client"
	}
	return f
}

// NotServed refuses a known endpoint of providers that the gateway does not serve. path is
// its path, without the prefix that the site has cut off, and reason a clause, "" for none.
func NotServed(prefix, path, reason string) *Fault {
	if reason != "" {
		reason = ", since " + reason
	}
	return &Fault{
		Kind: NotFound, Code: "not_found",
		Message: "path: the gateway does not serve " + path + reason + "; GET " + prefix + "/api/openapi.json lists what it serves",
	}
}

// VersionTwice refuses a path such as /v1/v1/messages: the configured base URL ends
// in /v1, and the client appends /v1 itself. The status is not 404, since Claude
// Code shows any 404 as a model that does not exist.
func VersionTwice() *Fault {
	return &Fault{Kind: Invalid, Message: "path: has /v1 twice; the base URL of this client must not end in /v1"}
}

// NoAccounts refuses a login if accounts are switched off.
func NoAccounts() *Fault {
	return &Fault{Kind: NotFound, Message: "path: accounts are switched off here", Code: "not_found"}
}

// Untranslatable refuses a request that cannot be translated to the formats of the
// model's targets; upstream is one of them.
func Untranslatable(client translate.Format, model string, upstream translate.Format) *Fault {
	return &Fault{
		Kind: Invalid,
		Message: "model: " + string(client) + " requests cannot be translated for model '" + model +
			"' (upstream format " + string(upstream) + ")",
		Param: "model", Code: CodeUntranslatable,
	}
}

// NoTarget refuses a request that no target of its model takes.
func NoTarget(model string) *Fault {
	return &Fault{
		Kind: Invalid, Message: "model: '" + model + "' has no target that takes this request",
		Param: "model", Code: "no_target",
	}
}

// NoTokenCount refuses to count tokens for a model without a provider that can.
func NoTokenCount(model string) *Fault {
	return &Fault{Kind: NotFound, Message: "token counting is not available for model '" + model + "'", Log: Log{Trait: "count_tokens"}}
}

// CodeUntranslatable is the error code, in chat and completions bodies, for requests
// that the provider's format cannot express.
const CodeUntranslatable = "unsupported_for_upstream"

// LateSystem refuses a system turn that is not the first; path is the path of its
// role. The message is the one of Anthropic's API: Claude Code, which sends such
// turns, recognizes it and repeats the request without them.
func LateSystem(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": role 'system' is not supported on this model",
		Param: path, Code: CodeUntranslatable, Log: Log{Trait: "mid_system"},
	}
}

// NotForm refuses a Content-Type header of an endpoint whose requests are forms.
func NotForm() *Fault {
	return &Fault{Kind: UnsupportedMediaType, Message: "content-type: must be multipart/form-data, with the boundary of the body"}
}

// NotRelated refuses a Content-Type header of a request that must have a file behind its description.
func NotRelated() *Fault {
	return &Fault{Kind: UnsupportedMediaType, Message: "content-type: must be multipart/related, with the boundary of the body"}
}

// FormBroken refuses a body that is no form; why describes its first fault.
func FormBroken(why string) *Fault {
	return &Fault{Kind: Invalid, Message: "request body: not a form of the type multipart/form-data: " + why}
}

// NoEndpoint refuses an operation that no provider of a model has. path is its path.
func NoEndpoint(model, path string) *Fault {
	return &Fault{
		Kind: NotFound, Message: "model: '" + model + "' is not available at " + path,
		Param: "model", Code: "model_not_found",
	}
}

// ModelInPath refuses the name of a model in a path that others could read as another path.
func ModelInPath() *Fault {
	return InvalidField("model", "must be a name in the path, without empty segments, '.', '..', '?', '#' and '\\'")
}
