package demo

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// stream writes the answer as a stream of events. It paces their content, and carries out the
// faults of a stream.
func (w *writing) stream() {
	f := &w.answer.Request.Faults
	output := w.openStream(f)
	w.pause(f.SlowFirst)
	if f.Has(reply.FirstEventError) {
		output.write(w.failure())
		output.close()
		return
	}
	contents, struck := 0, false
	for e := range w.answer.Events(w.route.format) {
		content := e.Kind == event.Text || e.Kind == event.Reasoning || e.Kind == event.ToolArgs
		if !struck && (content && contents == f.Pieces || e.Kind == event.Finish) { // an answer may be too short
			struck = true
			if last := w.strike(f.Middle); last != nil {
				output.write(last)
				break
			}
		}
		if content {
			w.pause(w.engine.pace)
		}
		if e.Kind == event.Finish && f.Has(reply.NoFinish) {
			break
		}
		w.emitter.Handle(&e)
		events := w.emitter.Output()
		if content && len(events) > 0 { // else the client does not get it, or not yet
			contents++
		}
		if e.Kind == event.End && f.Has(reply.NoDone) && !w.route.format.Answers.NoLastEvent {
			events = withoutLast(events)
		}
		output.write(events)
	}
	output.close()
}

// withoutLast returns events, each of which ends with a blank line, without the last one.
func withoutLast(events []byte) []byte {
	blank := []byte("\n\n")
	i := bytes.LastIndex(bytes.TrimSuffix(events, blank), blank)
	if i < 0 {
		return nil
	}
	return events[:i+len(blank)]
}

// strike carries out the fault of mid-answer, and returns the event with which it ends the stream,
// nil for none.
func (w *writing) strike(fault reply.Fault) (last []byte) {
	switch fault {
	case reply.Cut:
		w.abort()
	case reply.Stall:
		w.stall()
	case reply.ErrorEvent:
		return w.failure()
	case reply.Garbage:
		return []byte(`data: {"id": "half an ev` + "\n\n")
	}
	return nil
}

// failure returns the event that ends a stream with an error.
func (w *writing) failure() []byte {
	f := failed(&w.answer.Request.Faults)
	if c, ok := w.emitter.(format.Continuation); ok {
		return c.AppendFailure(nil, w.ids, f)
	}
	return w.route.format.Errors.AppendEvent(nil, f, w.seed.RequestID())
}

// output is the body of a stream. It flushes each write, unless the stream is sent in one piece.
type output struct {
	x       *exchange
	w       io.Writer
	held    bytes.Buffer // of a stream that is sent in one piece
	zip     *gzip.Writer // nil when plain
	crlf    bool
	control *http.ResponseController
}

// openStream sends the headers of a stream.
func (x *exchange) openStream(f *reply.Faults) *output {
	x.setHeader("text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	o := &output{x: x, w: x.w, crlf: f.Has(reply.CRLF), control: http.NewResponseController(x.w)}
	if f.Has(reply.Burst) {
		o.w = &o.held
	}
	if f.Has(reply.Gzip) {
		x.w.Header().Set("Content-Encoding", "gzip")
		o.zip = gzip.NewWriter(o.w)
		o.w = o.zip
	}
	x.w.WriteHeader(http.StatusOK)
	o.flush()
	return o
}

// write writes whole events. It breaks the answer off if the client has disconnected.
func (o *output) write(events []byte) {
	if len(events) == 0 {
		return
	}
	if o.crlf {
		events = bytes.ReplaceAll(events, []byte("\n"), []byte("\r\n"))
	}
	_, err := o.w.Write(events)
	if o.flush(); err != nil {
		o.x.abort()
	}
}

func (o *output) flush() {
	if o.zip != nil {
		_ = o.zip.Flush() // the next write reports an error
	}
	_ = o.control.Flush()
}

func (o *output) close() {
	if o.zip != nil {
		_ = o.zip.Close()
	}
	_, _ = o.x.w.Write(o.held.Bytes()) // an error means that the client has disconnected
}
