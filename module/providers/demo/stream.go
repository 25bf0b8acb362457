package demo

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// stream writes the events of one answer, each flushed at once.
type stream struct {
	x        *exchange
	answer   *reply.Answer
	writer   wire.Writer
	faults   *reply.Faults
	out      io.Writer
	held     bytes.Buffer // of a stream that is sent in one piece
	zip      *gzip.Writer // nil when plain
	control  *http.ResponseController
	sent     int  // events so far
	contents int  // those with content
	struck   bool // the fault of mid-stream came, or came too late
	over     bool // the stream ended early; what follows is not written
}

// stream writes the answer as a stream of events.
func (x *exchange) stream(a *reply.Answer, w wire.Writer) {
	s := &stream{x: x, answer: a, writer: w, faults: &a.Faults, out: x.w, control: http.NewResponseController(x.w)}
	s.open()
	if s.faults.FirstEventError {
		s.fail()
	}
	w.Stream(a, s.event)
	s.close()
}

func (s *stream) open() {
	if s.faults.Burst {
		s.out = &s.held
	}
	s.x.setHeader("text/event-stream; charset=utf-8")
	s.x.w.Header().Set("Cache-Control", "no-cache")
	if s.faults.Gzip {
		s.x.w.Header().Set("Content-Encoding", "gzip")
		s.zip = gzip.NewWriter(s.out)
		s.out = s.zip
	}
	s.x.w.WriteHeader(http.StatusOK)
	s.flush()
	s.x.pause(s.faults.SlowFirst)
}

// event paces and writes one event, or carries out the fault that takes its
// place.
func (s *stream) event(e wire.Event) {
	if s.over {
		return
	}
	switch e.Kind {
	case wire.Content:
		if s.contents == s.faults.After {
			s.strike()
		}
		s.contents++
		s.x.pause(s.x.engine.pace)
	case wire.Finish, wire.Terminal:
		s.strike() // at last, in an answer that was too short for the fault
		s.over = s.over || s.faults.NoFinish || s.faults.NoDone && e.Kind == wire.Terminal
	}
	s.write(e)
}

// strike carries out the fault of mid-stream, if there is one and it did not
// come before.
func (s *stream) strike() {
	if s.struck {
		return
	}
	s.struck = true
	switch s.faults.Middle {
	case reply.Cut:
		s.x.abort()
	case reply.Stall:
		s.x.stall()
	case reply.ErrorEvent:
		s.fail()
	case reply.Garbage:
		s.write(wire.Event{Data: []byte(`{"id": "half an ev`)})
		s.over = true
	}
}

// fail ends the stream with the error event of the format.
func (s *stream) fail() {
	s.write(s.writer.FailedEvent(s.answer, s.x.overloaded(s.faults), s.sent))
	s.over = true
}

// write frames one event and flushes it.
func (s *stream) write(e wire.Event) {
	if s.over {
		return
	}
	s.sent++
	end := "\n"
	if s.faults.CRLF {
		end = "\r\n"
	}
	var frame []byte
	if e.Name != "" {
		frame = append(frame, "event: "+e.Name+end...)
	}
	frame = append(append(frame, "data: "...), e.Data...)
	frame = append(frame, end+end...)
	if _, err := s.out.Write(frame); err != nil {
		s.x.abort() // the client left
	}
	s.flush()
}

func (s *stream) flush() {
	if s.zip != nil {
		_ = s.zip.Flush() // the next write reports an error
	}
	_ = s.control.Flush()
}

func (s *stream) close() {
	if s.zip != nil {
		_ = s.zip.Close()
	}
	_, _ = s.x.w.Write(s.held.Bytes()) // a client that left needs no answer
}
