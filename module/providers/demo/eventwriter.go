package demo

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// eventWriter writes the events of a stream. It flushes each event, unless the stream is
// sent in one piece.
type eventWriter struct {
	w       http.ResponseWriter
	out     io.Writer
	newline string
	held    bytes.Buffer // of a stream that is sent in one piece
	zip     *gzip.Writer // nil when plain
	control *http.ResponseController
}

func newEventWriter(w http.ResponseWriter, f *reply.Faults) *eventWriter {
	e := &eventWriter{w: w, out: w, newline: "\n", control: http.NewResponseController(w)}
	if f.Has(reply.CRLF) {
		e.newline = "\r\n"
	}
	if f.Has(reply.Burst) {
		e.out = &e.held
	}
	if f.Has(reply.Gzip) {
		e.zip = gzip.NewWriter(e.out)
		e.out = e.zip
	}
	return e
}

func (w *eventWriter) write(e wire.Event) error {
	var frame []byte
	if e.Name != "" {
		frame = append(frame, "event: "+e.Name+w.newline...)
	}
	frame = append(append(frame, "data: "...), e.Data...)
	frame = append(frame, w.newline+w.newline...)
	_, err := w.out.Write(frame)
	w.flush()
	return err
}

func (w *eventWriter) flush() {
	if w.zip != nil {
		_ = w.zip.Flush() // the next write reports an error
	}
	_ = w.control.Flush()
}

func (w *eventWriter) close() {
	if w.zip != nil {
		_ = w.zip.Close()
	}
	_, _ = w.w.Write(w.held.Bytes()) // an error means that the client has disconnected
}
