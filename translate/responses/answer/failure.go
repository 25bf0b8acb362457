package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// readFault reads an error of the provider: in a body, an event or a failed response.
func readFault(data []byte) *fault.Fault {
	return Dialect.ReadEvent(data)
}

// readFault reads the error of a whole answer: that of a response that has failed, or an
// error without a response, which has the status that it has in the other formats.
func (h *head) readFault(body []byte) *fault.Fault {
	if string(h.status) == `"failed"` {
		return readFault(body)
	}
	return fault.ReadAnswer(body)
}

// Dialect is how streams express errors: by the name of the event or the type of its
// data, and by a code.
var Dialect = fault.Dialect{Unknown: 500, IsError: failsByName}

// failsByName reports whether clients take an event for an error: by its name, or by the
// type in the data of an event without a name.
func failsByName(name string, body any) bool {
	if name == "" {
		object, _ := body.(map[string]any)
		name, _ = object["type"].(string)
	}
	return name == "error" || name == "response.failed"
}

// The codes of failed responses that clients act on.
const (
	codeInvalid     = "invalid_prompt"
	codeRateLimited = "rate_limit_exceeded"
	codeExhausted   = "insufficient_quota"
	codeOverloaded  = "server_is_overloaded"
	codeServer      = "server_error"
)

// codeOf returns the error.code of a failed response. Clients repeat a request unless the
// code blames the request.
func codeOf(f *fault.Fault) string {
	switch f.Kind {
	case fault.Invalid, fault.TooLarge:
		if f.Code == fault.CodeOverflow {
			return fault.CodeOverflow
		}
		return codeInvalid
	case fault.RateLimited:
		return codeRateLimited
	case fault.Exhausted, fault.AccountExhausted:
		return codeExhausted
	case fault.Overloaded:
		return codeOverloaded
	default:
		return codeServer
	}
}

// AppendFailure appends all events of a stream that failed before its first event:
// clients expect a beginning before the failure. Nothing may follow them.
func AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte {
	return NewOpening(nil, ids).AppendFailure(dst, f)
}

// appendFailed appends the last event of a failed stream.
func (f *frame) appendFailed(dst []byte, sequence int64, output []byte, fault *fault.Fault) []byte {
	return f.appendEvent(dst, "response.failed", sequence, &ending{status: failed, fault: fault, output: output})
}
