package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// readFault says what an error of the provider means: one of a body, of an event,
// or of a response that failed.
func readFault(data []byte) *fault.Fault {
	return Dialect.ReadEvent(data)
}

// dialect is how errors are told of: by the name of the event, or by its type, and by
// a code that says what happened.
var Dialect = fault.Dialect{Unknown: 500, IsError: failsByName}

// failsByName reports whether clients know an event for an error: by its name, or by
// the type in its data if it has none.
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
	codeOverloaded  = "server_is_overloaded"
	codeServer      = "server_error"
)

// codeOf returns the error.code of a response that failed. Clients send a request
// again unless its code says that it is to blame.
func codeOf(f *fault.Fault) string {
	switch f.Kind {
	case fault.Invalid, fault.TooLarge:
		if f.Code == fault.CodeOverflow {
			return fault.CodeOverflow
		}
		return codeInvalid
	case fault.RateLimited:
		return codeRateLimited
	case fault.Overloaded:
		return codeOverloaded
	default:
		return codeServer
	}
}

// AppendFailure appends the events of a stream that failed before anything of an
// answer was written: clients want one that begins before it fails. Nothing may
// follow them.
func AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte {
	response := frame{id: ids.Message, model: []byte(ids.Model), created: ids.Created}
	dst = response.appendEvent(dst, "response.created", 0, &ending{status: inProgress, output: []byte{}})
	return response.appendFailed(dst, 1, []byte{}, f)
}

// appendFailed appends the last event of a stream that failed.
func (f *frame) appendFailed(dst []byte, sequence int64, output []byte, fault *fault.Fault) []byte {
	return f.appendEvent(dst, "response.failed", sequence, &ending{status: failed, fault: fault, output: output})
}
