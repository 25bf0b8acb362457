package transport

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// fanOut merges the answers of several calls into one. If the answer is a stream, fanOut is
// its body. Each subcall sends and reads in its own goroutine, which ends at the latest in
// stop. The reader of the answer handles the arrivals of all subcalls one after the other,
// so that a slow client slows down every subcall. If a subcall fails, the answer fails.
type fanOut struct {
	call        *call
	translators pairs.Fan
	subcalls    []*subcall
	arrivals    chan arrival // closed by the last goroutine
	running     atomic.Int32
	room        atomic.Int64 // bytes of JSON answers that may still be read

	ready  bytes.Buffer // bytes that may be passed on
	first  arrival      // the merged answer has the headers of this one
	failed *subcall     // the first subcall that failed after content; nil for none
}

// fanOut makes the calls of a request with several prompts or samples, one for each sample of
// each prompt. first is the request with the first prompt. Nothing is sent before all prompts
// are prepared, because a later one may be invalid.
func (c *call) fanOut(first prepared) (*http.Response, error) {
	f := &fanOut{call: c, arrivals: make(chan arrival)}
	f.room.Store(maxAnswer)
	var length int64
	var answers []*translate.AnswerContext
	for n, request := 0, first; n < first.prompts; n++ {
		if n > 0 {
			var fault *fault.Fault
			if request, fault = prepare(c.attempt, n, c.t, c.address); fault != nil {
				for _, s := range f.subcalls {
					s.payload.Close()
					s.call.life.cancel(errEnded)
				}
				return c.refuse(fault), nil
			}
		}
		c.result.Lane.Losses = request.losses
		for range first.samples {
			s := newSubcall(c, request, &f.room)
			f.subcalls, answers = append(f.subcalls, s), append(answers, s.call.answerContext)
			length += s.payload.Length()
		}
		request.payload.Close()
	}
	f.translators = pairs.NewFan(c.attempt.Format.Name, c.attempt.Exchange.Request.Format.Name, answers, answerIDs(c.attempt))
	for i, s := range f.subcalls {
		s.translator = f.translators[i]
		s.relay.lane = &translation{s.translator, newEvents(c.t)}
		share := float64(s.payload.Length()) / float64(length)
		c.result.Parts = append(c.result.Parts, exchange.Part{Result: s.call.result.Result, Share: share})
	}
	return f.do()
}

// do makes the calls. It returns the answer with the first content of any stream, or with
// the last of the JSON answers.
func (f *fanOut) do() (*http.Response, error) {
	c, streaming := f.call, f.call.attempt.Exchange.Request.Streaming()
	c.result.Sent, c.result.Times.Called = true, time.Now() // the result of a failed subcall replaces Sent
	f.running.Store(int32(len(f.subcalls)))
	for _, s := range f.subcalls {
		go func() {
			defer func() {
				if f.running.Add(-1) == 0 {
					close(f.arrivals)
				}
			}()
			s.run(f.deliver)
		}()
	}
	begun := func() bool { return streaming && slices.ContainsFunc(f.subcalls, (*subcall).begun) }
	for !c.result.Whole() && !begun() {
		a, more := <-f.arrivals
		if !more { // the client has disconnected
			f.stop()
			return nil, c.fail(c.life.ctx.Err())
		}
		if f.take(a, false) {
			continue
		}
		if begun() { // content arrived before the failure
			f.fail(a.subcall)
			break
		}
		f.stop()
		res, err := a.subcall.failure(a.res)
		f.merge(a.subcall)
		return res, err
	}
	f.merge(f.failed)
	if streaming {
		c.result.State, c.result.Times.Began = max(c.result.State, exchange.Content), time.Now()
		return c.response(f.first.res, http.StatusOK, f, -1), nil
	}
	_ = f.Close()
	return c.response(f.first.res, http.StatusOK, io.NopCloser(&f.ready), int64(f.ready.Len())), nil
}

// deliver sends an arrival to the reader. It returns false if the answer has ended; stop
// handles the arrival then.
func (f *fanOut) deliver(a arrival) bool {
	select {
	case f.arrivals <- a:
		return true
	case <-f.call.life.ctx.Done():
		a.subcall.undelivered = a
		return false
	}
}

// take handles an arrival. It reports whether the answer can still succeed. committed is
// true if the client may have content.
func (f *fanOut) take(a arrival, committed bool) bool {
	s := a.subcall
	if a.panicked != nil {
		f.stop()
		panic(a.panicked)
	}
	if f.first.subcall == nil {
		f.first = arrival{subcall: a.subcall, res: a.res} // without its data, which may be large
	}
	if s.whole.Load() {
		return true
	}
	ok := s.take(a, committed)
	if s.relay.begun() && s.call.result.Times.Began.IsZero() {
		s.call.result.Times.Began = time.Now()
	}
	_, _ = s.relay.ready.WriteTo(&f.ready) // a bytes.Buffer returns no error
	if s.call.result.Whole() {
		s.noteUsage()
		s.call.life.watch.Enter(watch.Drain(time.Duration(s.call.t.UsageWait)))
		s.whole.Store(true) // its goroutine reads the rest of the body
		if !slices.ContainsFunc(f.subcalls, func(s *subcall) bool { return !s.whole.Load() }) {
			f.call.result.noteFinished(f.translators)
		}
	}
	return ok
}

// fail ends an answer that has content, after the failure of a subcall.
func (f *fanOut) fail(s *subcall) {
	f.failed = s
	f.merge(s)
	f.call.life.cancel(errEnded)
}

// merge sets the result of the answer. failed is the subcall that failed, nil for none.
func (f *fanOut) merge(failed *subcall) {
	r := &f.call.result
	var failure *exchange.Result
	if failed != nil {
		failure = failed.call.result.Result
	}
	*r.Result = mergeResults(*r.Result, f.first.subcall.call.result.Result, failure)
	r.noteAnswer(f.translators.Usage(), f.translators.Text(), f.translators.Model(), f.translators.Losses())
}

// Read returns the next bytes. It returns io.EOF even for an answer that broke off; the
// result has the fault.
func (f *fanOut) Read(p []byte) (int, error) {
	for f.ready.Len() == 0 {
		a, more := <-f.arrivals
		switch {
		case !more:
			return 0, io.EOF
		case f.failed != nil:
			a.subcall.takeLate(a)
		case !f.take(a, true):
			f.fail(a.subcall)
		}
	}
	return f.ready.Read(p)
}

// Close ends all calls. It may be called at any time.
func (f *fanOut) Close() error {
	f.stop()
	f.merge(f.failed)
	return nil
}

// stop cancels the running calls, and waits until all goroutines have ended. The results of
// the subcalls are final then.
func (f *fanOut) stop() {
	f.call.life.cancel(errEnded)
	for a := range f.arrivals {
		a.subcall.takeLate(a)
	}
	for _, s := range f.subcalls {
		s.takeLate(s.undelivered)
		s.noteUsage()
		s.call.end()
	}
}
