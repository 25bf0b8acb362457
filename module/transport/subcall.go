package transport

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// subcall is one of the calls of a fan-out. Its goroutine only sends and reads; the reader of
// the merged answer handles the arrivals.
type subcall struct {
	call       *call
	payload    *payload.Payload
	translator *pairs.Translator
	relay      relay // of a streamed answer

	noAnswer *noAnswer // nil while an answer is possible

	undelivered arrival // the last one, if the reader has not received it

	room  *atomic.Int64 // bytes of JSON answers that all subcalls together may still read
	whole atomic.Bool   // the answer is whole; the goroutine only reads to the end of the body
}

// noAnswer is the return value of a call without an answer, for reverse_proxy.
type noAnswer struct {
	res *http.Response
	err error
}

// newSubcall returns a call of a fan-out, whose whole call is c. It has its own result and
// lifetime, because it runs in its own goroutine. It lacks a translator and a lane.
func newSubcall(c *call, request prepared, room *atomic.Int64) *subcall {
	own, answerContext := *c.result.Result, *request.answerContext
	own.Parts = nil
	part := &call{t: c.t, attempt: c.attempt, address: c.address, result: result{&own, c.result.hide}, proxied: c.proxied, answerContext: &answerContext}
	part.life.beginWithin(&c.life)
	return &subcall{call: part, payload: request.payload.Share(), room: room, relay: relay{call: part, gaps: metrics.EventGaps(c.attempt.Provider)}}
}

// arrival is a message from the goroutine of a subcall to the reader of the answer. If the
// subcall gives no answer, only subcall is set.
type arrival struct {
	subcall *subcall
	res     *http.Response
	whole   bool   // data is a whole JSON answer; if false, the next bytes of a stream
	data    []byte // valid until the reader receives the next arrival
	err     error  // after data

	panicked any // the value of a panic in the goroutine; the reader panics with it
}

// run makes the call. It runs in the goroutine of the subcall, which ends with it.
func (s *subcall) run(deliver func(arrival) bool) {
	defer s.call.life.watch.Stop()
	defer func() {
		if p := recover(); p != nil {
			deliver(arrival{subcall: s, panicked: p})
		}
	}()
	res, err := s.call.send(s.payload)
	if err != nil {
		s.giveUp(nil, s.call.fail(err), deliver)
		return
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode != http.StatusOK:
		res, err = s.call.refused(res)
		s.giveUp(res, err, deliver)
	case s.call.isStream(res):
		s.pump(res, deliver)
	default:
		s.collect(res, deliver)
	}
}

// giveUp ends a call without an answer.
func (s *subcall) giveUp(res *http.Response, err error, deliver func(arrival) bool) {
	s.noAnswer = &noAnswer{res, err}
	deliver(arrival{subcall: s})
}

// collect reads and delivers a whole JSON answer. All subcalls together may read as many
// bytes as a single call.
func (s *subcall) collect(res *http.Response, deliver func(arrival) bool) {
	body, err := s.call.read(nil, res, max(0, s.room.Load()))
	if err == nil && s.room.Add(-int64(len(body))) < 0 { // others have read in the meantime
		err = coding.ErrTooLarge
	}
	if err != nil {
		s.giveUp(nil, s.call.unread(err), deliver)
		return
	}
	deliver(arrival{subcall: s, res: res, whole: true, data: body})
}

// pump delivers the pieces of a stream. It has two buffers, so that it can read into one
// while the reader of the answer uses the other.
func (s *subcall) pump(res *http.Response, deliver func(arrival) bool) {
	src, err := s.call.events(res)
	if err != nil {
		s.giveUp(nil, s.call.unread(err), deliver)
		return
	}
	var buffers [2][8 << 10]byte
	for i, rest := 0, maxReadOut; err == nil && rest > 0; i ^= 1 {
		var n int
		s.call.life.watch.Resume()
		n, err = src.Read(buffers[i][:])
		s.call.life.watch.Hold() // until the reader of the answer has received this piece
		if s.whole.Load() {
			rest--
			continue
		}
		if !deliver(arrival{subcall: s, res: res, data: buffers[i][:n], err: err}) {
			return
		}
	}
}

// take handles an arrival, and reports whether a whole answer is still possible. If the
// connection breaks off before there is content, the call has no answer. committed is true
// if the client may have content.
func (s *subcall) take(a arrival, committed bool) bool {
	switch {
	case s.noAnswer != nil:
		return false
	case a.whole:
		return s.takeAnswer(a)
	case len(a.data) > 0:
		s.relay.took(a.data, 0)
	}
	err := s.relay.failure(a.err)
	switch {
	case err == nil || s.relay.ended():
		return s.call.result.Fault == nil
	case errors.Is(err, io.EOF) || committed || s.begun() || s.relay.failing():
		s.relay.end(err)
		return s.call.result.Whole()
	default:
		s.noAnswer = &noAnswer{err: s.call.unread(err)}
		return false
	}
}

// takeAnswer translates a whole JSON answer. It reports whether the answer is valid.
func (s *subcall) takeAnswer(a arrival) bool {
	fault := readAnswer(s.translator, a.data)
	s.relay.ready.Write(s.translator.Output())
	if fault != nil {
		s.call.result.noteError(s.call.result.hide.typed(a.res, fault))
		return false
	}
	s.call.result.noteFinished(s.translator)
	return true
}

// begun reports whether the answer has content or is whole. It does not read the result,
// because the goroutine of the subcall may be writing it.
func (s *subcall) begun() bool { return s.whole.Load() || s.relay.begun() }

// takeLate handles an arrival after the end of the merged answer, for what it reports. The
// client gets nothing of it. A subcall that has failed reads nothing more: its lexer may
// refer to a buffer that is in use again.
func (s *subcall) takeLate(a arrival) {
	if a.subcall != nil && a.panicked == nil && !s.whole.Load() && s.call.result.Fault == nil {
		s.take(a, true)
		s.relay.ready.Reset()
	}
}

// noteUsage sets what the answer has reported so far. The goroutine of the subcall must not
// write the result any more.
func (s *subcall) noteUsage() {
	s.call.result.noteAnswer(s.translator.Usage(), s.translator.Text(), s.translator.Model(), nil)
}

// failure returns the return value of a failed call, for reverse_proxy. The goroutine of the
// call must have ended.
func (s *subcall) failure(res *http.Response) (*http.Response, error) {
	c := s.call
	switch {
	case s.noAnswer != nil:
		return s.noAnswer.res, s.noAnswer.err
	case c.result.Fault != nil:
		return c.failed(res, c.attempt.Format.Errors.Status(c.result.Fault), c.result.Fault), nil
	default: // the client has disconnected
		return nil, c.fail(io.ErrUnexpectedEOF)
	}
}
