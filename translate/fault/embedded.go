package fault

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

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

// ReadEvent says what an error event in a stream of the format means to
// the client. The event has no status: its type or its code tell it, as a number or
// as a known word. All others stand for 500 in the formats that have such words of
// their own, messages and responses, and for 502 in the others.
func ReadEvent(data []byte, format translate.Format) *Fault {
	d := readDetail("", data)
	return d.fault(d.streamStatus(format), embeddedMessage)
}

// streamStatus is the status that an error event in a stream of the format stands
// for.
func (d detail) streamStatus(format translate.Format) int {
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
	case format == translate.Messages || format == translate.Responses:
		return 500
	}
	return 502
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

// RelayableEvent reports whether a provider's error event, in the middle of a
// stream, may go to a client of the same format as it is. Clients must know it
// for an error: by the event's name in the messages and the responses format, by a
// member "error" in the others. Those on the gateway's own account are never relayed, nor are
// overflows of the context that messages clients would not know.
func RelayableEvent(name, data []byte, format translate.Format) bool {
	value, isJSON := decode(data)
	object, _ := value.(map[string]any)
	known := object["error"] != nil
	switch format {
	case translate.Messages:
		known = isJSON && string(name) == "error"
	case translate.Responses:
		known = isJSON && failsByName(name, object)
	}
	d := readDetail("", data)
	return known && d.relayable(d.streamStatus(format), format)
}

// failsByName reports whether clients of the responses format know an event for an
// error: by its name, or by the type in its data where it has none.
func failsByName(name []byte, object map[string]any) bool {
	word := string(name)
	if word == "" {
		word, _ = object["type"].(string)
	}
	return word == "error" || word == "response.failed"
}
