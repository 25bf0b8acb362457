package request

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
)

// readBody reads the request body to its end and decodes it. Reading to the end is
// necessary because only then does the server notice that a client disconnects.
func readBody(ex *exchange.Exchange, r *http.Request, limit int64) *fault.Fault {
	if f := checkType(ex.Request.Operation, r.Header["Content-Type"]); f != nil {
		return f
	}
	name, err := coding.Name(r.Header["Content-Encoding"])
	if err != nil {
		return fault.CodingUnsupported()
	}
	ex.Request.Lease = exchange.NewLease()
	body, err := coding.ReadAll(ex.Request.Lease.Buffer(), r.Body, r.ContentLength, limit)
	if err != nil {
		return unread(err, limit)
	}
	ex.Request.Lease.Keep(body)
	return setBody(ex, name, body, limit)
}

// setBody decodes a body and sets it as that of the exchange.
func setBody(ex *exchange.Exchange, name string, body []byte, limit int64) *fault.Fault {
	if name != "" {
		var err error
		if body, err = coding.Decode(name, bytes.NewReader(body), limit); err != nil {
			return undecoded(name, err, limit)
		}
	}
	ex.Request.Body = bytes.TrimPrefix(body, byteOrderMark)
	if bytes.HasPrefix(ex.Request.Body, byteOrderMark) { // the scanner would accept a second mark
		return fault.Malformed(len(byteOrderMark), errTwoMarks)
	}
	return nil
}

var (
	byteOrderMark = []byte("\xef\xbb\xbf")
	errTwoMarks   = errors.New("two byte order marks")
)

// unread returns the fault of a body that cannot be read.
func unread(err error, limit int64) *fault.Fault {
	var tooLarge *http.MaxBytesError // of Caddy's request_body directive
	switch {
	case errors.Is(err, coding.ErrTooLarge):
		return fault.BodyTooLarge(limit)
	case errors.As(err, &tooLarge):
		return fault.BodyTooLarge(tooLarge.Limit)
	default:
		return fault.BodyUnreadable(err)
	}
}

// undecoded returns the fault of a body that cannot be decoded.
func undecoded(name string, err error, limit int64) *fault.Fault {
	if errors.Is(err, coding.ErrTooLarge) {
		return fault.DecodedBodyTooLarge(limit)
	}
	return fault.CodingBroken(name, err)
}

// isJSON reports whether a content type is JSON. A missing one counts as JSON.
func isJSON(values []string) bool {
	switch {
	case len(values) > 1:
		return false
	case len(values) == 0 || values[0] == "":
		return true
	}
	return exchange.IsJSON(values[0])
}

// inspect validates the body, and sets the view of the exchange with a request.
func inspect(ex *exchange.Exchange, r *http.Request) *fault.Fault {
	asked := &ex.Request
	types := asked.Client["Content-Type"]
	if passthrough.TakesForms(asked.Operation) &&
		hasFormType(types) != (len(types) == 1 && passthrough.HasType(types[0], asked.Body)) {
		return fault.NotForm()
	}
	view, f := asked.Format.Requests.Inspect(asked.Body, asked.Operation)
	if f != nil {
		return f
	}
	if nameOf := asked.Format.Requests.ModelName; nameOf != nil { // the path has the name, and the kind of the answer
		if view.Model != "" && nameOf(view.Model) != nameOf(asked.View.Model) {
			return fault.InvalidField("model", "must be the model of the path")
		}
		view.Model, view.Stream = asked.View.Model, asked.View.Stream
	}
	if asked.InMessage {
		if f := checkMessage(asked.Body, &view); f != nil {
			return f
		}
	}
	asked.View = view
	if asked.InMessage {
		socket := exchange.MessageFrom(r.Context()) // for which alone the provider keeps its responses
		socket.Forget(&asked.View.Beyond, func(id *translate.ObjectID) bool { return socket.Has(asked, id) })
	}
	return nil
}

// requestMessage is the type of the messages that are requests.
const requestMessage = "response.create"

// checkMessage checks what a message has beside the members of a request, and sets that its answer is
// a stream, which it need not state.
func checkMessage(body []byte, view *translate.View) *fault.Fault {
	view.Stream = true
	if jsonscan.TextOf(jsonscan.MemberOf(body, "type")) != requestMessage {
		return fault.InvalidField("type", "must be '"+requestMessage+"'")
	}
	if stream := jsonscan.MemberOf(body, "stream_id"); stream != nil && !isStreamName(jsonscan.TextOf(stream)) {
		f := fault.InvalidField("stream_id", "must be 1 to 256 letters, digits, underscores, hyphens or periods")
		f.Code = "invalid_stream_id"
		return f
	}
	return nil
}

// longestStreamName is the greatest length of the name of a stream, in bytes.
const longestStreamName = 256

// isStreamName reports whether a text is the name of a stream on a WebSocket.
func isStreamName(text string) bool {
	return text != "" && len(text) <= longestStreamName && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' && c != '.'
	})
}

// checkType refuses a content type that no request of an operation has.
func checkType(op translate.Operation, values []string) *fault.Fault {
	switch {
	case passthrough.TakesForms(op) && (hasFormType(values) || passthrough.TakesJSON(op) && isJSON(values)):
		return nil
	case passthrough.TakesForms(op):
		return fault.NotForm()
	case !isJSON(values):
		return fault.NotJSON()
	}
	return nil
}

// hasFormType reports whether a content type is that of a form.
func hasFormType(values []string) bool {
	return len(values) == 1 && strings.HasPrefix(strings.ToLower(values[0]), "multipart/form-data")
}
