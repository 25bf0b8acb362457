package fault

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// AppendBody appends the error body of f for a client of the format. Any
// format other than Messages, the empty one included, gets the chat and
// completions shape, which has no place for the request id.
func AppendBody(dst []byte, f *Fault, format translate.Format, requestID string) []byte {
	if format == translate.Messages {
		return appendMessagesFault(dst, f, requestID)
	}
	dst = append(dst, `{"error":{"message":`...)
	dst = jsonscan.AppendString(dst, f.Message)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, f.Type(format)...)
	dst = append(dst, `","param":`...)
	dst = jsonscan.AppendStringOrNull(dst, f.Param)
	dst = append(dst, `,"code":`...)
	dst = jsonscan.AppendStringOrNull(dst, f.Code)
	return append(dst, "}}"...)
}

func appendMessagesFault(dst []byte, f *Fault, requestID string) []byte {
	dst = append(dst, `{"type":"error","error":{"type":"`...)
	dst = append(dst, f.Type(translate.Messages)...)
	dst = append(dst, `","message":`...)
	dst = jsonscan.AppendString(dst, f.messagesText())
	switch {
	case f.ErrorCode != "":
		dst = appendDetails(dst, f)
	case f.Details != nil:
		dst = append(append(dst, `,"details":`...), f.Details...)
	}
	dst = append(dst, '}')
	if requestID != "" {
		dst = append(dst, `,"request_id":`...)
		dst = jsonscan.AppendString(dst, requestID)
	}
	return append(dst, '}')
}

func appendDetails(dst []byte, f *Fault) []byte {
	dst = append(dst, `,"details":{"error_code":`...)
	dst = jsonscan.AppendString(dst, f.ErrorCode)
	for i, name := range f.Unsupported {
		if i == 0 {
			dst = append(dst, `,"unsupported":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, name)
	}
	if len(f.Unsupported) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendEvent appends the event that ends a stream of the format with f.
// Nothing may follow it: neither message_stop nor [DONE], since a stream that
// failed must not look finished.
func AppendEvent(dst []byte, f *Fault, format translate.Format, requestID string) []byte {
	if format == translate.Messages {
		dst = append(dst, "event: error\n"...)
	}
	dst = append(dst, "data: "...)
	dst = AppendBody(dst, f, format, requestID)
	return append(dst, "\n\n"...)
}

// The keep-alives are shared: the callers of KeepAlive only read them.
var (
	ping    = []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")
	comment = []byte(": keep-alive\n\n")
)

// KeepAlive is what may be written between two events of a stream of the
// format while there is nothing to say. The caller must not change it.
func KeepAlive(format translate.Format) []byte {
	if format == translate.Messages {
		return ping
	}
	return comment
}
