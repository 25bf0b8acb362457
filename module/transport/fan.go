package transport

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// fan is the answer that several calls give together (wire format B.8), and the
// body of a streamed one. Its calls send and read in goroutines of their own,
// which end with it; all that they get is taken in, one after the other, by
// whoever reads the answer, so that nobody writes while nobody reads, and a slow
// client slows down every call. One call that fails makes the whole fail.
type fan struct {
	call        *call
	translators pairs.Fan
	branches    []*branch
	arrivals    chan arrival // closed by the last goroutine
	running     atomic.Int32
	room        atomic.Int64 // bytes that may still be read of JSON answers

	ready  bytes.Buffer // bytes that may be handed on
	first  arrival      // its call's headers stand for those of all
	left   int          // calls whose answer is not complete
	broken bool
}

func newFan(c *call) *fan {
	memories := make([]*translate.Memory, len(c.branches))
	for i, b := range c.branches {
		memories[i] = &b.memory
	}
	f := &fan{call: c, arrivals: make(chan arrival), left: len(c.branches)}
	f.room.Store(maxAnswer)
	f.translators = pairs.NewFan(c.attempt.Format, c.attempt.Exchange.Format, memories, c.ids())
	for i, b := range c.branches {
		f.branches = append(f.branches, newBranch(b, f.translators[i], &f.room))
	}
	return f
}

// do makes the calls and returns the answer once it is known to be one: with
// the first content of a stream, whichever call that comes from, or with the
// last of the JSON answers.
func (f *fan) do() (*http.Response, error) {
	f.start()
	for f.left > 0 && !f.begun() {
		a, more := <-f.arrivals
		if !more { // the client is gone
			f.stop()
			return nil, f.call.fail(f.call.ctx.Err())
		}
		if f.take(a, false) {
			continue
		}
		if f.begun() { // with content that came before the failure
			f.fail(a.from)
			break
		}
		f.stop()
		res, err := a.from.result(a.res)
		f.adopt(a.from)
		return res, err
	}
	return f.answer(), nil
}

// fail ends the answer behind content, because of the call that failed.
func (f *fan) fail(b *branch) {
	f.broken = true
	f.adopt(b)
	f.call.cancel(errEnded)
}

func (f *fan) start() {
	f.call.attempt.Sent = true // unless the first call that fails knows better
	f.running.Store(int32(len(f.branches)))
	for _, b := range f.branches {
		go func() {
			defer func() {
				if f.running.Add(-1) == 0 {
					close(f.arrivals)
				}
			}()
			b.run(f.tell)
		}()
	}
}

// tell hands over an arrival, unless the whole has ended.
func (f *fan) tell(a arrival) bool {
	select {
	case f.arrivals <- a:
		return true
	case <-f.call.ctx.Done():
		return false
	}
}

// begun reports whether a stream has content.
func (f *fan) begun() bool {
	for _, b := range f.branches {
		if f.call.attempt.Exchange.Streaming() && b.speaks() {
			return true
		}
	}
	return false
}

// take takes in what a call has got. It reports whether the whole can still
// succeed.
func (f *fan) take(a arrival, committed bool) bool {
	b := a.from
	if a.panicked != nil {
		f.stop()
		panic(a.panicked)
	}
	if f.first.from == nil {
		f.first = arrival{from: a.from, res: a.res} // without its body, which may be large
	}
	if b.over.Load() {
		return true
	}
	if !b.refused {
		b.take(a, committed)
		_, _ = b.relay.ready.WriteTo(&f.ready) // memory takes all
	}
	if b.attempt.Finished {
		b.finish()
		f.left--
		if f.left == 0 {
			f.call.attempt.Finished, f.call.attempt.Usage = true, f.translators.Usage()
		}
	}
	return !b.broken()
}

// answer is what is handed on: the stream from now on, or the whole answer.
func (f *fan) answer() *http.Response {
	c := f.call
	c.attempt.Status, c.attempt.RequestID = f.first.from.attempt.Status, f.first.from.attempt.RequestID
	if c.attempt.Exchange.Streaming() {
		f.note()
		return c.response(f.first.res, http.StatusOK, f, -1)
	}
	_ = f.Close()
	return c.response(f.first.res, http.StatusOK, io.NopCloser(&f.ready), int64(f.ready.Len()))
}

// adopt makes the attempt that of the call that failed.
func (f *fan) adopt(b *branch) {
	*f.call.attempt = *b.attempt
	f.call.attempt.Finished = false
	f.note()
}

// note writes down what all calls have used and lost, and which model answers.
func (f *fan) note() {
	a := f.call.attempt
	a.Dropped = f.call.presentableLosses(f.translators.Losses())
	a.Usage, a.AnsweredBy = f.translators.Usage(), f.call.presentable(f.translators.Model())
}

// Read hands on the next bytes. The answer of a broken call ends in an orderly
// way; what it lacks stands in the attempt.
func (f *fan) Read(p []byte) (int, error) {
	for f.ready.Len() == 0 {
		a, more := <-f.arrivals
		switch {
		case !more:
			return 0, io.EOF
		case f.broken:
		case !f.take(a, true):
			f.fail(a.from)
		}
	}
	return f.ready.Read(p)
}

// Close ends all calls. It may come at any time.
func (f *fan) Close() error {
	f.stop()
	f.note()
	return nil
}

// stop cancels the calls that still run and waits for the end of them all.
func (f *fan) stop() {
	f.call.cancel(errEnded)
	for range f.arrivals { // nobody waits for what still comes
	}
	for _, b := range f.branches {
		b.end()
	}
}
