package fault

import (
	"cmp"
	"slices"
	"strings"
)

// genericMessage replaces a provider's message that cannot be shown.
const genericMessage = "the upstream reported an error"

// statusByWord has the types and codes that imply the status of an error event, which states
// none.
var statusByWord = map[string]int{
	"invalid_request_error":     400,
	"BadRequestError":           400,
	"invalid_value":             400,
	"context_length_exceeded":   400,
	"authentication_error":      401,
	"invalid_api_key":           401,
	"billing_error":             402,
	"insufficient_quota":        402,
	"permission_error":          403,
	"permission_denied":         403,
	"not_found_error":           404,
	"NotFoundError":             404,
	"model_not_found":           404,
	"conflict_error":            409,
	"request_too_large":         413,
	"rate_limit_error":          429,
	"rate_limit_exceeded":       429,
	"RateLimitError":            429,
	"1302":                      429, // Z.ai
	"1303":                      429, // Z.ai
	"1305":                      429, // Z.ai
	"tokens":                    429,
	"requests":                  429,
	"service_unavailable_error": 503,
	"server_is_overloaded":      503,
	"data_residency_mismatch":   403,
	"vector_store_timeout":      504,
	"slow_down":                 503,
	"overloaded":                503,
	"timeout_error":             504,
	"upstream_timeout":          504,
	"overloaded_error":          529,
}

// Dialect is how errors are expressed in a format.
type Dialect struct {
	// Unknown is the status of an error event if its type and its code imply none.
	Unknown int
	// IsError reports whether clients recognize an event as an error, by its name or by
	// its body, which is decoded JSON.
	IsError func(name string, body any) bool
	// KnowsOverflow reports whether clients recognize a message as that of a prompt that
	// is too long, or of an answer that would be; nil if they recognize those of all
	// providers.
	KnowsOverflow func(message string) bool
}

// ReadEvent returns the fault of an error event in a provider's stream. Its status is
// the type or the code of the event, as a number or as a known word, or else Unknown.
func (l *Dialect) ReadEvent(data []byte) *Fault {
	d := readDetail("", data)
	return d.fault(l.statusOf(d), genericMessage)
}

// statusOf returns the status of an error event.
func (l *Dialect) statusOf(d detail) int {
	switch {
	case d.account() != 0:
		return d.account()
	case d.status() != 0:
		return d.status()
	case statusByWord[d.code] != 0:
		return statusByWord[d.code]
	case serverStatus(d.code) != 0: // gateways state the type of a request that is wrong beside it
		return serverStatus(d.code)
	case statusByWord[d.kind] != 0:
		return statusByWord[d.kind]
	case invalidWords[d.code]:
		return 400
	}
	head, _, _ := strings.Cut(d.message, ":") // of AWS: "ThrottlingException: slow down"
	return cmp.Or(serverStatus(d.kind), serverStatus(head), l.Unknown)
}

// serverWords are the parts of types and codes for what a server could not do, in small letters
// without what separates them: too many requests, too busy, too late, or cut off.
var serverWords = []struct {
	part   string
	status int
}{
	{"throttl", 429}, {"ratelimit", 429}, {"ratequota", 429}, {"toomanyrequests", 429}, {"requestlimit", 429},
	{"overload", 503}, {"serverbusy", 503}, {"serviceunavailable", 503},
	{"timeout", 504}, {"timedout", 504}, {"deadlineexceeded", 504},
	{"disconnect", 502}, {"connectionreset", 502}, {"econnreset", 502}, {"connectionrefused", 502},
	{"econnrefused", 502}, {"connectionclosed", 502}, {"connectionerror", 502}, {"badgateway", 502},
}

// serverStatus returns the status of a type or a code that has one of serverWords, else 0. A sentence
// has none, and neither has a word that blames a value, such as "invalid_timeout".
func serverStatus(word string) int {
	if len(word) > maxCode || strings.Contains(word, " ") {
		return 0
	}
	word = strings.ToLower(signLetters.Replace(word))
	if strings.Contains(word, "invalid") || strings.Contains(word, "unsupported") {
		return 0
	}
	for _, row := range serverWords {
		if strings.Contains(word, row.part) {
			return row.status
		}
	}
	return 0
}

// HasError reports whether JSON is the body of an error.
func (l *Dialect) HasError(data []byte) bool {
	body, isJSON := decode(data)
	return isJSON && l.IsError("", body)
}

// RelayableEvent reports whether a client of the provider's format may get an error
// event unchanged. It may not if the event is about the gateway's account, or if
// clients would not recognize it.
func (l *Dialect) RelayableEvent(name, data []byte) bool {
	body, isJSON := decode(data)
	if !isJSON || !l.IsError(string(name), body) {
		return false
	}
	d := readDetail("", data)
	return l.relays(d, l.statusOf(d))
}

// Relayable reports whether a client of the provider's format may get the status of an
// error answer, and its body if that is JSON: such clients match the wording. It may
// not if the answer is about the gateway's account, if the status is a redirect or no
// status of HTTP, or if clients would not recognize an overflow of the context.
func (l *Dialect) Relayable(status int, body []byte) bool {
	if status < 400 || status > maxStatus {
		return false
	}
	return l.relays(readDetail("", body), status)
}

// RelayableAnswer is Relayable for an answer of status 2xx that states an error.
func (l *Dialect) RelayableAnswer(body []byte) bool {
	return l.Relayable(l.statusOf(readDetail("", body)), body)
}

// relays reports whether clients may read an error unchanged.
func (l *Dialect) relays(d detail, status int) bool {
	row := rowOf(status)
	if l.KnowsOverflow != nil && (d.overflows(row) || d.excess(row) != nil) && !l.KnowsOverflow(d.message) {
		return false
	}
	return d.account() == 0 && status != 401 && status != 402
}

// invalidWords are further codes of the responses format that blame the request.
var invalidWords = map[string]bool{
	"invalid_prompt": true, "invalid_encrypted_content": true, "bio_policy": true, "cyber_policy": true,
	"misalignment_policy_violation": true, "image_content_policy_violation": true,
	"invalid_image": true, "invalid_image_format": true, "invalid_base64_image": true, "invalid_image_url": true,
	"invalid_image_mode": true, "image_too_large": true, "image_too_small": true, "image_parse_error": true,
	"image_file_too_large": true, "image_file_not_found": true, "empty_image_file": true,
	"unsupported_image_media_type": true, "failed_to_download_image": true,
}

// answers are bodies of errors in answers of status 2xx.
var answers = Dialect{Unknown: 502}

// Stated returns the error in a body of status 2xx that could not be read as an answer, nil if the
// body has none.
func Stated(body []byte) *Fault {
	value, _ := decode(body)
	object, _ := value.(map[string]any)
	if !statesError(object) || detailOf(value, 0).message == "" {
		return nil
	}
	return ReadAnswer(body)
}

// Suspected is Stated for a body that only looks like an error: it has a message of any kind, and no
// code of success.
func Suspected(body []byte) *Fault {
	value, _ := decode(body)
	object, _ := value.(map[string]any)
	d := detailOf(value, 0)
	if object == nil || d.message == "" || d.code != "" && successCodes[d.code] && !statesError(object) {
		return nil
	}
	return ReadAnswer(body)
}

// Stray returns the fault of a stream that ends without a finish, although one of its events is this
// JSON object, which has neither content nor usage: the event may be an error in a shape that nobody
// knows. It returns nil for a sign of life, for a code of success, and for an event without a message
// that has one of the members of ordinary events.
func Stray(event []byte, ordinary []string) *Fault {
	value, _ := decode(event)
	object, _ := value.(map[string]any)
	has := func(name string) bool { return object[name] != nil }
	code := detailOf(value, 0).code
	switch f := Suspected(event); {
	case showsLife(object):
		return nil
	case f != nil:
		return f
	case code != "" && successCodes[code], slices.ContainsFunc(ordinary, has):
		return nil
	}
	return Truncated(nil)
}

// ReadAnswer returns the fault of an error object in an answer of status 2xx. Its status is
// the type or the code of the error, as in ReadEvent, else 502.
func ReadAnswer(body []byte) *Fault {
	f := answers.ReadEvent(body)
	if f.Kind == BadGateway && f.Code == "" {
		f.Code = codeUnusable
	}
	return f
}
