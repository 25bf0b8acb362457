package transport

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/payload"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// subcall is one of the calls of a fan-out. Its goroutine does nothing but send
// and read; the reader of the whole answer handles what arrives.
type subcall struct {
	*call
	payload    *payload.Payload // what the call sends
	translator *pairs.Translator
	relay      relay // of a streamed answer

	noAnswer *noAnswer // nil while the call may give an answer

	room  *atomic.Int64 // bytes that all calls together may still read of JSON answers
	whole atomic.Bool   // the answer is whole: the rest is read for the end of the body alone
}

// noAnswer is what a call without an answer returns to reverse_proxy.
type noAnswer struct {
	res *http.Response
	err error
}

func newSubcall(p preparedCall, t *pairs.Translator, room *atomic.Int64) *subcall {
	return &subcall{call: p.call, payload: p.payload, translator: t, room: room, relay: relay{
		call: p.call, lane: &translation{t, p.call.events()}, gaps: metrics.EventGaps(p.call.attempt.Provider),
	}}
}

// arrival is what a subcall delivers. If it gave no answer, only from is set.
type arrival struct {
	from  *subcall
	res   *http.Response
	whole bool   // data is a whole JSON answer, else the next bytes of a stream
	data  []byte // valid until the next arrival is asked for
	err   error  // behind data

	panicked any // of the subcall's goroutine, to be raised again in that of the reader
}

// run makes the call.
func (s *subcall) run(deliver func(arrival) bool) {
	defer s.watch.Stop()
	defer func() {
		if p := recover(); p != nil {
			deliver(arrival{from: s, panicked: p})
		}
	}()
	res, err := s.send(s.payload)
	switch {
	case err != nil:
		s.giveUp(nil, s.fail(err), deliver)
	case res.StatusCode != http.StatusOK:
		res, err = s.refused(res)
		s.giveUp(res, err, deliver)
	case isEventStream(res) && s.attempt.Exchange.Streaming():
		s.pump(res, deliver)
	default:
		s.collect(res, deliver)
	}
}

// giveUp ends a call that gives no answer.
func (s *subcall) giveUp(res *http.Response, err error, deliver func(arrival) bool) {
	s.noAnswer = &noAnswer{res, err}
	deliver(arrival{from: s})
}

// collect delivers a whole JSON answer. All subcalls together may read as much as a
// single call.
func (s *subcall) collect(res *http.Response, deliver func(arrival) bool) {
	body, err := s.read(res, max(0, s.room.Load()))
	if err == nil && s.room.Add(-int64(len(body))) < 0 { // others were read meanwhile
		err = coding.ErrTooLarge
	}
	if err != nil {
		res, err = s.unread(res, err)
		s.giveUp(res, err, deliver)
		return
	}
	_ = res.Body.Close()
	deliver(arrival{from: s, res: res, whole: true, data: body})
}

// pump delivers a stream as it comes. It fills one of its two buffers while the other
// is being read.
func (s *subcall) pump(res *http.Response, deliver func(arrival) bool) {
	defer res.Body.Close()
	s.watch.Enter(watch.FirstEvent(time.Duration(s.t.FirstEventTimeout)))
	src, err := s.decoded(res)
	if err != nil {
		res, err = s.unread(res, err)
		s.giveUp(res, err, deliver)
		return
	}
	var buffers [2][8 << 10]byte
	for i, rest := 0, maxReadOut; err == nil && rest > 0; i ^= 1 {
		var n int
		s.watch.Resume()
		n, err = src.Read(buffers[i][:])
		s.watch.Hold() // until the answer's reader asks for more
		if s.whole.Load() {
			rest--
			continue
		}
		if !deliver(arrival{from: s, res: res, data: buffers[i][:n], err: err}) {
			return
		}
	}
}

// take handles what has arrived, and reports whether the call may still give a
// whole answer. Before the client has content, a connection that breaks off leaves
// no answer.
func (s *subcall) take(a arrival, committed bool) bool {
	switch {
	case s.noAnswer != nil:
		return false
	case a.whole:
		return s.takeAnswer(a.data)
	case len(a.data) > 0:
		s.relay.took(a.data, 0)
	}
	err := s.relay.failure(a.err)
	switch {
	case err == nil || s.relay.ended():
		return s.result.Fault == nil
	case err == io.EOF || committed || s.begun():
		s.relay.end(err)
		return s.result.Whole()
	default:
		s.noAnswer = &noAnswer{err: s.fail(fmt.Errorf("reading answer: %w", err))}
		return false
	}
}

// takeAnswer reads a whole JSON answer.
func (s *subcall) takeAnswer(body []byte) bool {
	fault := readAnswer(s.translator, body)
	s.relay.ready.Write(s.translator.Output())
	if fault != nil {
		s.noteError(fault)
		return false
	}
	s.noteFinished(s.translator.Usage())
	return true
}

// begun reports whether the answer has content or is whole. It does not read the
// result, which the goroutine of the call may be writing.
func (s *subcall) begun() bool { return s.whole.Load() || s.relay.begun() }

// finish begins to read out the body after a whole answer.
func (s *subcall) finish() {
	s.watch.Enter(watch.Drain(time.Duration(s.t.UsageWait)))
	s.whole.Store(true)
}

// failure returns what a failed call returns to reverse_proxy, once its goroutine
// has ended.
func (s *subcall) failure(res *http.Response) (*http.Response, error) {
	if s.noAnswer != nil {
		return s.noAnswer.res, s.noAnswer.err
	}
	if fault := s.result.Fault; fault != nil {
		return s.failed(res, s.attempt.Format.Errors.Status(fault), fault), nil
	}
	return nil, s.fail(io.ErrUnexpectedEOF) // only the client's end leaves no fault
}
