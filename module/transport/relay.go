package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// relay is the body of a streamed answer: the provider's events, passed on by a lane. Read
// always ends with io.EOF; the result of the call has the state in which the stream ended.
// Nothing is passed on after the event that ends the stream.
type relay struct {
	call *call
	src  io.Reader // nil when nothing more is read
	lane lane
	gaps prometheus.Observer // of the times between events

	failedAt int64 // offset of the end of the event with which the answer failed, 0 if it has not; a later event may state the reason

	alone     bool   // src reads from the connection with its reader, in the same goroutine
	stopWaits func() // ends the calls that OnWait has begun; nil before

	ready output // bytes that may be passed on

	mu      sync.Mutex // guards the lane while it writes, and written: a timer reads both for keep-alives
	written int64      // bytes that the lane has written so far
}

// maxPrelude is the largest number of bytes that are held back before the first content:
// comments, pings and empty chunks. A compressed megabyte could contain gigabytes of them.
const maxPrelude = 1 << 20

// maxReadOut is the largest number of reads after the last event.
const maxReadOut = 16

var errSilence = fmt.Errorf("waiting for an event: %w", coding.ErrTooLarge)

// primes are the buffers for the beginnings of streams.
var primes = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// prime reads up to the first event with content. It returns an error of the connection; any
// other failure is in the result.
func (r *relay) prime() error {
	buf := primes.Get().(*[4 << 10]byte)
	defer primes.Put(buf)
	for !r.begun() && !r.ended() {
		n, err := r.step(buf[:])
		r.ready.Write(buf[:n])
		err = r.failure(err)
		switch {
		case r.begun() || r.ended(): // the next read finds the failure again
		case errors.Is(err, io.EOF), err != nil && r.failing():
			r.end(err)
			return nil
		case err != nil:
			return err
		case r.ready.Len() > maxPrelude:
			return fmt.Errorf("waiting for content: %w", coding.ErrTooLarge)
		}
	}
	return nil
}

// begun reports whether content has arrived. A failure after content, even in the same
// bytes, is a stream that broke off.
func (r *relay) begun() bool { return r.lane.signals().Has(signal.Content) }

// ended reports whether the last event has arrived.
func (r *relay) ended() bool { return r.lane.signals()&lastSignals != 0 }

// Read returns the next bytes, and none after the client has left.
func (r *relay) Read(p []byte) (int, error) {
	for {
		if r.call.life.left.Load() {
			r.readUsage(p)
			return 0, io.EOF
		}
		if r.ready.Len() > 0 {
			return r.ready.Read(p), nil
		}
		if r.src == nil {
			return 0, io.EOF
		}
		if r.ended() {
			r.readOut(p)
			continue
		}
		n, err := r.step(p)
		if err = r.failure(err); err != nil && !r.ended() {
			r.end(err)
		}
		if n > 0 && !r.call.life.left.Load() {
			return n, nil
		}
	}
}

// step reads once into p, gives the bytes to the lane, and updates the state. It returns the
// number of bytes at the beginning of p that may be passed on.
func (r *relay) step(p []byte) (direct int, err error) {
	fresh := r.lane.restore(p)
	n, err := r.read(p[fresh:])
	if n == 0 {
		r.lane.take(p[:fresh], fresh, &r.ready)
		return 0, err
	}
	return r.took(p[:fresh+n], fresh), err
}

// OnWait makes f run before each read that waits for the provider. It reports whether the
// relay can do that.
func (r *relay) OnWait(f func()) bool {
	if socket := r.call.life.conn.Reader(); socket != nil && r.alone { // without one, the answer has ended, and no read waits
		r.stopWaits = socket.OnWait(func() {
			f()
			r.call.life.watch.Resume()
		})
	}
	return r.alone
}

// read reads once. The watch runs only while the relay waits for the provider, because
// between two reads the relay waits for the client.
func (r *relay) read(p []byte) (int, error) {
	if r.stopWaits == nil {
		r.call.life.watch.Resume()
	}
	defer r.call.life.watch.Hold()
	return r.src.Read(p)
}

// took handles the bytes in p; see lane.take for fresh. Only an event of an unfinished
// stream is a sign of life: comments must not extend the wait for a silent provider, and
// events must not extend the wait for usage.
func (r *relay) took(p []byte, fresh int) (direct int) {
	last := r.lane.lastEvent()
	direct = r.take(p, fresh)
	if r.call.result.State == exchange.Content && !r.failing() && r.lane.lastEvent() > last {
		r.gaps.Observe(r.call.life.watch.Touch().Seconds())
	}
	r.advance()
	return direct
}

// take gives bytes to the lane; see lane.take.
func (r *relay) take(p []byte, fresh int) (direct int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := r.ready.Len()
	direct = r.lane.take(p, fresh, &r.ready)
	r.written += int64(direct + r.ready.Len() - size)
	return direct
}

// endLane ends the lane; see lane.end.
func (r *relay) endLane(eof bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := r.ready.Len()
	r.lane.end(eof, &r.ready)
	r.written += int64(r.ready.Len() - size)
}

// maxSilence returns the largest number of bytes, after decoding, before the first content,
// and after it between two events. It is more than the size of the largest event.
func (r *relay) maxSilence() int64 { return r.call.t.MaxEventBytes + maxPrelude }

// failing reports whether the answer has failed, and what follows may state why.
func (r *relay) failing() bool { return r.failedAt > 0 }

// failure returns the error that ends the stream early: for an event that is too large, for
// more than maxSilence bytes without an event, before content, or behind a failure, else err.
func (r *relay) failure(err error) error {
	start := r.failedAt
	if r.begun() && !r.failing() {
		start = r.lane.lastEvent()
	}
	var silence error
	if r.lane.offset()-start > r.maxSilence() {
		silence = errSilence
	}
	return cmp.Or(r.lane.err(), silence, err)
}

// advance sets the state by the signals of the events so far, and the timeout of the next
// phase.
func (r *relay) advance() {
	c := r.call
	if r.lane.signals().Has(signal.Cut) && r.src != nil && !r.ended() {
		// The provider does not know this stop text, and would generate the answer to its
		// end. Close ends the call instead.
		r.src = nil
		c.result.Reading.Stopped = true
		r.endLane(true)
	}
	signals := r.lane.signals()
	c.life.turnOver.Store(signals&(signal.Finish|signal.BlockEnd) != 0)
	switch {
	case signals.Has(signal.Failed):
		c.result.noteError(r.lane.observed().Fault())
		if r.lane.relaysErrors() && r.begun() {
			c.result.State = exchange.Relayed
		}
	case signals.Has(signal.Terminal):
		if f := r.lane.observed().Fault(); f != nil { // the provider's own events show that the answer is not whole
			c.result.noteError(f)
			c.result.State = exchange.Relayed
			break
		}
		c.result.noteFinished(r.lane.observed())
		cached{c}.keep(true)
	case signals.Has(signal.Failing):
		if !r.failing() {
			r.failedAt = r.lane.offset()
			c.life.watch.Enter(watch.Drain(time.Duration(c.t.UsageWait)))
		}
	case c.result.State < exchange.Finishing && signals.Has(signal.Finish) && !c.attempt.ByteLane():
		c.result.State = exchange.Finishing
		c.life.watch.Enter(watch.Drain(time.Duration(c.t.UsageWait)))
	case c.result.State < exchange.Content && signals.Has(signal.Content):
		c.result.State = exchange.Content
		c.life.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	}
}

// readOut reads the rest of the body after the last event, because a connection can be
// reused only after the end of the body.
func (r *relay) readOut(buf []byte) {
	r.call.life.watch.Enter(watch.Drain(time.Duration(r.call.t.UsageWait)))
	for range maxReadOut {
		if _, err := r.read(buf); err != nil {
			break
		}
	}
	r.src = nil
}

// end ends a stream whose last event has not arrived.
func (r *relay) end(err error) {
	r.src = nil
	cause := context.Cause(r.call.life.ctx)
	waited := errors.Is(cause, watch.ErrDrain) // the wait for the usage of a finished stream is over
	r.endLane(waited || errors.Is(err, io.EOF))
	r.advance()
	if r.call.life.client.Err() == nil && !r.ended() {
		r.call.result.noteFailure(brokenOff(err, cause))
	}
}

// noteAnswer stores the usage, the text, the model and the losses of the answer in the
// result.
func (r *relay) noteAnswer() {
	answer := r.lane.observed()
	r.call.result.noteAnswer(answer.Usage(), answer.Text(), answer.Model(), answer.Losses())
}

// readUsage reads the rest of the turn after the client has left, and passes nothing on. It
// stops when the turn goes on with more content.
func (r *relay) readUsage(buf []byte) {
	r.call.result.Reading.Unread = true
	limit := r.lane.offset() + r.maxSilence()
	for r.src != nil && !r.ended() && r.call.life.turnOver.Load() && r.lane.offset() < limit {
		_, err := r.step(buf)
		r.ready.Reset()
		if err = r.failure(err); err != nil && !r.ended() {
			r.end(err)
		}
	}
}

// Close ends the call. It may be called at any time, also before the end of the stream.
func (r *relay) Close() error {
	if r.stopWaits != nil {
		r.stopWaits()
	}
	r.noteAnswer()
	r.call.end()
	return nil
}

// AppendKeepAlive implements exchange.Appender. It appends nothing if the client lacks
// bytes of the lane, because the keep-alive would come before them. It may be called
// concurrently with Read.
func (r *relay) AppendKeepAlive(dst []byte, sent int64) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent != r.written {
		return dst
	}
	return r.lane.continuation().AppendKeepAlive(dst)
}

// AppendFailure implements exchange.Appender.
func (r *relay) AppendFailure(dst []byte, f *fault.Fault) []byte {
	return r.lane.continuation().AppendFailure(dst, answerIDs(r.call.attempt), f)
}
