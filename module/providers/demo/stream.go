package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// stream writes the events of one answer, each flushed at once.
type stream struct {
	x        *exchange
	faults   *faults
	out      io.Writer
	held     bytes.Buffer // of a stream that is sent in one piece
	zip      *gzip.Writer // nil when plain
	control  *http.ResponseController
	contents int  // pieces of content so far
	over     bool // ended early; what follows is not written
}

// streamAnswer writes the answer as a stream of events.
func (x *exchange) streamAnswer(a *answer) {
	s := x.openStream(&a.faults)
	if a.faults.firstEventError {
		s.fail()
	}
	switch a.format {
	case translate.Messages:
		s.streamMessages(a)
	case translate.Chat:
		s.streamChat(a)
	default:
		s.streamCompletions(a)
	}
	s.close()
}

func (x *exchange) openStream(f *faults) *stream {
	s := &stream{x: x, faults: f, out: x.w, control: http.NewResponseController(x.w)}
	if f.burst {
		s.out = &s.held
	}
	x.setRequestID()
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	if f.gzip {
		x.w.Header().Set("Content-Encoding", "gzip")
		s.zip = gzip.NewWriter(s.out)
		s.out = s.zip
	}
	x.w.WriteHeader(http.StatusOK)
	s.flush()
	x.pause(f.slowFirst)
	return s
}

// send writes one event; chat and completions events have no name.
func (s *stream) send(name string, v any) { s.write(name, encode(v)) }

// content writes one event that carries content: paced, and the place where
// the faults of mid-stream strike.
func (s *stream) content(name string, v any) {
	if s.contents == s.faults.after {
		s.strike()
	}
	s.contents++
	s.x.pause(s.x.engine.pace)
	s.send(name, v)
}

// beforeFinish is the last moment for a fault of mid-stream in an answer that
// was shorter than the fault had wished.
func (s *stream) beforeFinish() {
	if s.contents <= s.faults.after {
		s.strike()
	}
}

// strike carries out the fault of mid-stream, if one was asked for.
func (s *stream) strike() {
	switch s.faults.middle {
	case "cut":
		s.x.abort()
	case "stall":
		s.x.stall()
	case "error-event":
		s.fail()
	case "garbage":
		s.write("", []byte(`{"id": "half an ev`))
		s.over = true
	}
}

// fail ends the stream with the format's error event.
func (s *stream) fail() {
	name := ""
	if s.x.route.format == translate.Messages {
		name = "error"
	}
	s.send(name, s.x.errorBody(overloaded(s.x.route.format)))
	s.over = true
}

// write frames one event and flushes it.
func (s *stream) write(name string, data []byte) {
	if s.over {
		return
	}
	end := "\n"
	if s.faults.crlf {
		end = "\r\n"
	}
	var frame []byte
	if name != "" {
		frame = append(frame, "event: "+name+end...)
	}
	frame = append(append(frame, "data: "...), data...)
	frame = append(frame, end+end...)
	if _, err := s.out.Write(frame); err != nil {
		s.x.abort() // the client left
	}
	s.flush()
}

func (s *stream) flush() {
	if s.zip != nil {
		_ = s.zip.Flush() // the write after it tells
	}
	_ = s.control.Flush()
}

func (s *stream) close() {
	if s.zip != nil {
		_ = s.zip.Close()
	}
	_, _ = s.x.w.Write(s.held.Bytes()) // a client that left needs no answer
}

// abort breaks the answer off the way net/http handlers do.
func (x *exchange) abort() { panic(http.ErrAbortHandler) }

// stall says nothing more until the client leaves.
func (x *exchange) stall() {
	<-x.r.Context().Done()
	x.abort()
}

// pause waits and breaks off when the client leaves.
func (x *exchange) pause(d time.Duration) {
	if d > 0 && !sleep(x.r.Context(), d) {
		x.abort()
	}
	if x.r.Context().Err() != nil {
		x.abort()
	}
}

// sleep waits for d and reports whether ctx lived that long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// overloaded is the error that the faults of mid-answer report.
func overloaded(format translate.Format) *refusal {
	if format == translate.Messages {
		return &refusal{status: 529, message: "Overloaded"}
	}
	return &refusal{status: http.StatusServiceUnavailable, message: "the server is overloaded", code: "server_is_overloaded"}
}
