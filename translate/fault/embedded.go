package fault

// embeddedMessage is said of errors in answers that began well.
const embeddedMessage = "the upstream reported an error"

// words are the types and codes that stand for a status in an error which
// comes without one, in the middle of a stream.
var words = map[string]int{
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

// Dialect is how a format's clients and providers tell of errors.
type Dialect struct {
	// Unknown is the status that an error in a stream stands for if nothing in it says
	// more.
	Unknown int
	// IsError reports whether clients know an event for an error, by its name or by its
	// body, which is decoded JSON.
	IsError func(name string, body any) bool
	// KnowsOverflow reports whether clients know the message of an error for that of
	// a prompt which is too long; nil if they know such errors by CodeOverflow.
	KnowsOverflow func(message string) bool
}

// ReadEvent returns what an error event of a provider's stream means to the client.
// The event has no status: its type or its code is one, as a number or as a known
// word, or else Unknown.
func (l *Dialect) ReadEvent(data []byte) *Fault {
	d := readDetail("", data)
	return d.fault(l.statusOf(d), embeddedMessage)
}

// statusOf returns the status that an error in a stream stands for.
func (l *Dialect) statusOf(d detail) int {
	switch {
	case d.account() != 0:
		return d.account()
	case d.status() != 0:
		return d.status()
	case words[d.code] != 0:
		return words[d.code]
	case words[d.kind] != 0:
		return words[d.kind]
	case invalidWords[d.code]:
		return 400
	}
	return l.Unknown
}

// RelayableEvent reports whether a provider's error event, in the middle of a
// stream, may go to a client of the same format as it is. Those on the gateway's own
// account are never relayed, nor are those that clients would not know.
func (l *Dialect) RelayableEvent(name, data []byte) bool {
	body, isJSON := decode(data)
	if !isJSON || !l.IsError(string(name), body) {
		return false
	}
	d := readDetail("", data)
	return l.relays(d, l.statusOf(d))
}

// Relayable reports whether a client of the provider's own format may get the
// status of an error answer, and its body if that is JSON: such clients match the
// wording. It may not if the answer is about the gateway's own account, if the
// status is a redirect or no status of HTTP, or if clients would not know an
// overflow of the context by its words.
func (l *Dialect) Relayable(status int, body []byte) bool {
	if status < 400 || status > maxStatus || status == 401 || status == 402 {
		return false
	}
	return l.relays(readDetail("", body), status)
}

// relays reports whether clients may read an error as it is.
func (l *Dialect) relays(d detail, status int) bool {
	if l.KnowsOverflow != nil && d.overflows(rowOf(status)) && !l.KnowsOverflow(d.message) {
		return false
	}
	return d.account() == 0
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

// ReadAnswer says what an error object in an answer of status 2xx means
// to the client: its integer code is the status, else 502.
func ReadAnswer(body []byte) *Fault {
	d := readDetail("", body)
	status := 502
	switch {
	case d.account() != 0:
		status = d.account()
	case d.status() != 0:
		status = d.status()
	}
	f := d.fault(status, embeddedMessage)
	if f.Kind == BadGateway && f.Code == "" {
		f.Code = codeUnusable
	}
	return f
}
