package answer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Dialect is how errors are expressed in the format.
var Dialect = fault.Dialect{
	Unknown: 500, IsError: hasError,
	KnowsOverflow: func(message string) bool {
		return strings.Contains(message, tooLong) || strings.Contains(message, tooMany)
	},
}

// KeepAlive is an event without a meaning. Clients accept neither comments nor other lines.
var KeepAlive = []byte("data: {}\n\n")

// hasError reports whether a body has an error, which may be in a list.
func hasError(_ string, body any) bool {
	if list, ok := body.([]any); ok && len(list) > 0 {
		body = list[0]
	}
	object, _ := body.(map[string]any)
	failure, _ := object["error"].(map[string]any)
	return failure != nil
}

const (
	statusOfRequest = 400
	statusOfQuota   = 429
)

// Status returns the HTTP status of an error answer: that of the fault, but 400 for faults that
// only the operator of the gateway can mend. Clients repeat a request after any other status that
// does not blame it, for minutes.
func Status(f *fault.Fault) int {
	switch f.Kind {
	case fault.CredentialRefused, fault.AccountExhausted:
		return statusOfRequest
	}
	return f.Status()
}

// statusWords are the words for the kinds of errors.
var statusWords = [...]string{
	fault.Internal:             "INTERNAL",
	fault.Invalid:              "INVALID_ARGUMENT",
	fault.Unauthenticated:      "UNAUTHENTICATED",
	fault.Forbidden:            "PERMISSION_DENIED",
	fault.NotFound:             "NOT_FOUND",
	fault.MethodNotAllowed:     "INVALID_ARGUMENT",
	fault.Conflict:             "ABORTED",
	fault.TooLarge:             "INVALID_ARGUMENT",
	fault.UnsupportedMediaType: "INVALID_ARGUMENT",
	fault.UpgradeRefused:       "INVALID_ARGUMENT",
	fault.RateLimited:          "RESOURCE_EXHAUSTED",
	fault.Exhausted:            "RESOURCE_EXHAUSTED",
	fault.BadGateway:           "UNAVAILABLE",
	fault.CredentialRefused:    "FAILED_PRECONDITION",
	fault.AccountExhausted:     "FAILED_PRECONDITION",
	fault.Overloaded:           "UNAVAILABLE",
	fault.Timeout:              "DEADLINE_EXCEEDED",
}

// Clients recognize these texts: a prompt that is longer than the context, and an answer for
// which more tokens are asked than it can have.
const (
	tooLong = "exceeds the maximum number of tokens"
	tooMany = "but the supported range is from 1 (inclusive) to"
)

// worded returns the fault in words that clients recognize.
func worded(f *fault.Fault) *fault.Fault {
	switch e := f.Blame.Excess; {
	case Dialect.KnowsOverflow(f.Message):
	case e != nil:
		value := "a larger maxOutputTokens value"
		if e.Asked > 0 {
			value = fmt.Sprintf("a maxOutputTokens value of %d", e.Asked)
		}
		message := fmt.Sprintf("Unable to submit request because it has %s "+tooMany+" %d (exclusive). Update the value and try again.", value, e.Most+1)
		return f.Reworded(message, "generationConfig.maxOutputTokens", f.Code)
	case f.Code == fault.CodeOverflow:
		return f.Reworded("The input token count "+tooLong+" allowed: "+f.Message, f.Param, f.Code)
	}
	return f
}

// AppendError appends an error body. The format has no place for the id of the request.
func AppendError(dst []byte, f *fault.Fault, _ string) []byte {
	f = worded(f)
	dst = strconv.AppendInt(append(dst, `{"error":{"code":`...), int64(Status(f)), 10)
	dst = jsonscan.AppendString(append(dst, `,"message":`...), f.Message)
	dst = append(append(append(dst, `,"status":"`...), statusWords[f.Kind]...), '"')
	return append(appendDetails(dst, f), "}}"...)
}

// detailType begins the types of details.
const detailType = `{"@type":"type.googleapis.com/google.rpc.`

// appendDetails appends the details by which clients decide whether and when to repeat a
// request, as a member with a comma before it, unless there are none. Clients do not read the
// header Retry-After.
func appendDetails(dst []byte, f *fault.Fault) []byte {
	var list []byte
	if f.Kind == fault.Unauthenticated {
		list = append(list, ","+detailType+`ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`...)
	}
	if f.Kind == fault.Invalid && f.Param != "" {
		list = jsonscan.AppendString(append(list, ","+detailType+`BadRequest","fieldViolations":[{"field":`...), f.Param)
		list = append(jsonscan.AppendString(append(list, `,"description":`...), f.Message), "}]}"...)
	}
	if Status(f) == statusOfQuota && f.Final { // only quotas of a day keep clients from repeating
		list = append(list, ","+detailType+`QuotaFailure","violations":[{"quotaId":"GatewayLimitPerDay"}]}`...)
	}
	if f.RetryAfter > 0 {
		list = strconv.AppendInt(append(list, ","+detailType+`RetryInfo","retryDelay":"`...), int64(f.RetryAfter), 10)
		list = append(list, `s"}`...)
	}
	if len(list) == 0 {
		return dst
	}
	return append(append(append(dst, `,"details":[`...), list[1:]...), ']')
}

// AppendErrorEvent appends the event that ends a stream.
func AppendErrorEvent(dst []byte, f *fault.Fault, requestID string) []byte {
	return append(AppendError(append(dst, "data: "...), f, requestID), "\n\n"...)
}

// AppendTokenCount appends the answer to a request that only counts its input.
func AppendTokenCount(dst []byte, tokens int64) []byte {
	return append(strconv.AppendInt(append(dst, `{"totalTokens":`...), tokens, 10), '}')
}
