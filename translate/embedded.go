package translate

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
	"slow_down":                 503,
	"overloaded":                503,
	"timeout_error":             504,
	"upstream_timeout":          504,
	"overloaded_error":          529,
}

// ReadStreamFault says what an error event in a stream of the format means to
// the client. The event has no status: in a messages stream its type tells it,
// and a type unknown stands for 500; in the others an integer code, a known
// word, or else 502.
func ReadStreamFault(data []byte, format Format) *Fault {
	d := readDetail("", data)
	return d.fault(d.streamStatus(format), embeddedMessage)
}

// streamStatus is the status that an error event in a stream of the format stands
// for.
func (d detail) streamStatus(format Format) int {
	switch {
	case d.account() != 0:
		return d.account()
	case d.status() != 0:
		return d.status()
	case words[d.code] != 0:
		return words[d.code]
	case words[d.kind] != 0:
		return words[d.kind]
	case format == Messages:
		return 500
	}
	return 502
}

// ReadAnswerFault says what an error object in an answer of status 2xx means
// to the client: its integer code is the status, else 502.
func ReadAnswerFault(body []byte) *Fault {
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
// for an error: by the event's name in the messages format, by a member "error"
// in the others. Those on the gateway's own account are never relayed, nor are
// overflows of the context that messages clients would not know.
func RelayableEvent(name, data []byte, format Format) bool {
	value, isJSON := decode(data)
	object, _ := value.(map[string]any)
	known := object["error"] != nil
	if format == Messages {
		known = isJSON && string(name) == "error"
	}
	d := readDetail("", data)
	return known && d.relayable(d.streamStatus(format), format)
}
