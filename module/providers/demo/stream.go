package demo

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// stream paces the events of one answer, and carries out the faults of a stream.
type stream struct {
	x        *exchange
	answer   *reply.Answer
	writer   wire.Writer
	faults   *reply.Faults
	out      *eventWriter
	sent     int  // events so far
	contents int  // events with content so far
	struck   bool // the fault of mid-stream was carried out
	over     bool // the stream has ended early; further events are not written
}

// stream writes the answer as a stream of events.
func (x *exchange) stream(a *reply.Answer, w wire.Writer) {
	s := &stream{x: x, answer: a, writer: w, faults: &a.Faults, out: x.openStream(&a.Faults)}
	x.pause(s.faults.SlowFirst)
	if s.faults.Has(reply.FirstEventError) {
		s.fail()
	}
	w.Stream(a, s.event)
	s.out.close()
}

// openStream sends the headers of a stream.
func (x *exchange) openStream(f *reply.Faults) *eventWriter {
	x.setHeader("text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	if f.Has(reply.Gzip) {
		x.w.Header().Set("Content-Encoding", "gzip")
	}
	x.w.WriteHeader(http.StatusOK)
	out := newEventWriter(x.w, f)
	out.flush()
	return out
}

// event paces and writes one event, or carries out the fault that replaces it.
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
		s.strike() // the answer was too short for the fault
		s.over = s.over || s.faults.Has(reply.NoFinish) || s.faults.Has(reply.NoDone) && e.Kind == wire.Terminal
	}
	s.write(e)
}

// strike carries out the fault of mid-stream, unless there is none or it was carried out
// before.
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

// write writes one event.
func (s *stream) write(e wire.Event) {
	if s.over {
		return
	}
	s.sent++
	if err := s.out.write(e); err != nil {
		s.x.abort() // the client has disconnected
	}
}
