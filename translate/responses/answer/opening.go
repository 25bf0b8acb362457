package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Opening writes the events of a stream to which no provider has answered yet.
type Opening struct {
	frame    frame
	sequence int64 // the number of the next event
}

// NewOpening returns the opening of the answer to a request. body must have passed
// Inspect.
func NewOpening(body []byte, ids translate.IDs) *Opening {
	o := &Opening{frame: frame{id: ids.Message, model: []byte(ids.Model), created: ids.Created}}
	if len(body) > 0 {
		o.frame.settings = AppendSettings(nil, body, true)
	}
	return o
}

// AppendKeepAlive appends response.created before the first call, and response.in_progress.
func (o *Opening) AppendKeepAlive(dst []byte) []byte {
	return o.lifecycle(o.begin(dst), "response.in_progress")
}

// AppendFailure appends response.failed, and response.created before it if nothing was
// appended yet.
func (o *Opening) AppendFailure(dst []byte, f *fault.Fault) []byte {
	dst = o.frame.appendFailed(o.begin(dst), o.sequence, []byte{}, f)
	o.sequence++
	return dst
}

// Events returns the number of events that were appended.
func (o *Opening) Events() int64 { return o.sequence }

// begin appends response.created, once.
func (o *Opening) begin(dst []byte) []byte {
	if o.sequence > 0 {
		return dst
	}
	return o.lifecycle(dst, "response.created")
}

func (o *Opening) lifecycle(dst []byte, name string) []byte {
	dst = o.frame.appendEvent(dst, name, o.sequence, &ending{status: inProgress, output: []byte{}})
	o.sequence++
	return dst
}
