package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// relay is the body of a streamed answer: the provider's events, as its lane passes
// them on. For its reader it always ends in an orderly way; the result of the call has
// the state in which the stream ended. Nothing is handed on after the event that ends
// the stream.
type relay struct {
	call     *call
	src      io.Reader // nil once nothing more is read
	upstream io.Closer
	lane     lane
	gaps     prometheus.Observer // of the times between events

	ready bytes.Buffer // bytes that may be handed on

	mu      sync.Mutex // held while the lane writes: keep-alives come from a timer
	written int64      // bytes of the lane so far
}

// maxPrelude bounds what is held back before the first content: comments, pings
// and empty chunks, in bytes. One compressed megabyte could hold gigabytes of
// them.
const maxPrelude = 1 << 20

// maxReadOut is the number of reads after the last event.
const maxReadOut = 16

// maxSilence bounds what is read before the first content and, from then on, between
// two events, in bytes after decoding. The largest event has room in it.
func (c *call) maxSilence() int64 { return c.t.MaxEventBytes + maxPrelude }

var errSilence = fmt.Errorf("waiting for an event: %w", coding.ErrTooLarge)

// prime reads up to the first meaningful event. It returns an error of the connection;
// any other failure is in the result.
func (r *relay) prime() error {
	buf := make([]byte, 4<<10)
	for !r.begun() && !r.ended() {
		n, err := r.step(buf)
		r.ready.Write(buf[:n])
		err = r.failure(err)
		switch {
		case r.begun() || r.ended(): // the next read meets the failure again
		case err == io.EOF:
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

// begun reports whether content came. An answer that fails from then on is a stream
// that broke off, even if the failure came with the same bytes.
func (r *relay) begun() bool { return r.lane.signals().Has(signal.Content) }

// ended reports whether the last event came.
func (r *relay) ended() bool { return r.lane.signals()&lastSignals != 0 }

// Read hands on the next bytes.
func (r *relay) Read(p []byte) (int, error) {
	for {
		if r.ready.Len() > 0 {
			return r.ready.Read(p)
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
		if n > 0 {
			return n, nil
		}
	}
}

// step reads once into p, passes the bytes to the lane, and enters the state that the
// events lead to. It returns how many bytes of p may be handed on.
func (r *relay) step(p []byte) (direct int, err error) {
	fresh := r.lane.restore(p)
	n, err := r.read(p[fresh:])
	if n == 0 {
		r.lane.take(p[:fresh], fresh, &r.ready)
		return 0, err
	}
	return r.took(p[:fresh+n], fresh), err
}

// read reads once. The watch runs only meanwhile: between two reads the relay waits for
// the client.
func (r *relay) read(p []byte) (int, error) {
	r.call.watch.Resume()
	defer r.call.watch.Hold()
	return r.src.Read(p)
}

// took handles the bytes in p, of which those from fresh on were just read. Only events
// of a stream that has not finished are a sign of life: comments must not keep a silent
// provider alive, and the wait for usage must not begin anew with each event.
func (r *relay) took(p []byte, fresh int) (direct int) {
	last := r.lane.lastEvent()
	direct = r.take(p, fresh)
	if r.call.result.State == exchange.Content && r.lane.lastEvent() > last {
		r.gaps.Observe(r.call.watch.Touch().Seconds())
	}
	r.advance()
	return direct
}

// take passes bytes on to the lane, as took does.
func (r *relay) take(p []byte, fresh int) (direct int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.ready.Len()
	direct = r.lane.take(p, fresh, &r.ready)
	r.written += int64(direct + r.ready.Len() - before)
	return direct
}

// endLane ends the lane.
func (r *relay) endLane(orderly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.ready.Len()
	r.lane.end(orderly, &r.ready)
	r.written += int64(r.ready.Len() - before)
}

// failure returns the error that ends the stream before its time: that of an event or a
// silence that is too large, else err.
func (r *relay) failure(err error) error {
	return cmp.Or(r.lane.err(), r.silent(), err)
}

// silent returns an error if too much came without an event, or before content.
func (r *relay) silent() error {
	var since int64
	if r.begun() {
		since = r.lane.lastEvent()
	}
	if r.lane.offset()-since > r.call.maxSilence() {
		return errSilence
	}
	return nil
}

// advance enters the state that the events so far lead to, and begins the wait for
// what may follow.
func (r *relay) advance() {
	c, signals := r.call, r.lane.signals()
	switch {
	case signals.Has(signal.Failed):
		r.failBySignal()
	case signals.Has(signal.Terminal):
		c.noteFinished(r.lane.Usage())
	case c.result.State < exchange.Finishing && signals.Has(signal.Finish) && !c.attempt.ByteLane():
		c.noteState(exchange.Finishing)
		c.watch.Enter(watch.Drain(time.Duration(c.t.UsageWait)))
	case c.result.State < exchange.Content && signals.Has(signal.Content):
		c.noteState(exchange.Content)
		c.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	}
}

// failBySignal ends the stream with the provider's own error.
func (r *relay) failBySignal() {
	r.call.noteError(r.lane.Fault())
	if r.lane.relaysErrors() && r.begun() {
		r.call.noteState(exchange.Relayed)
	}
}

// readOut reads on after the last event, up to the end of the body: the connection can
// be used again only then.
func (r *relay) readOut(buf []byte) {
	r.call.watch.Enter(watch.Drain(time.Duration(r.call.t.UsageWait)))
	for range maxReadOut {
		if _, err := r.read(buf); err != nil {
			break
		}
	}
	r.src = nil
}

// end ends a stream whose last event has not come.
func (r *relay) end(err error) {
	r.src = nil
	cause := context.Cause(r.call.ctx)
	waited := errors.Is(cause, watch.ErrDrain) // the wait for the usage of a finished turn is over
	r.endLane(waited || errors.Is(err, io.EOF))
	r.advance()
	if r.call.client.Err() == nil && !r.ended() {
		r.call.noteFailure(brokenOff(err, cause))
	}
}

// brokenOff returns the fault of a stream that ended with err, or by a timeout,
// before its last event.
func brokenOff(err, timeout error) *fault.Fault {
	switch {
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, coding.ErrTooLarge):
		return fault.Unusable(err)
	case timeout != nil:
		return fault.UpstreamTimeout(timeout)
	default:
		return fault.Truncated(err)
	}
}

// noteAnswer notes what the answer has shown of itself so far.
func (r *relay) noteAnswer() {
	r.call.noteAnswer(r.lane.Usage(), r.lane.Model(), r.lane.Losses())
}

// Close ends the call. It may come at any time: when the stream is over, when
// the client is gone, when a write failed.
func (r *relay) Close() error {
	r.noteAnswer()
	r.call.end()
	return r.upstream.Close()
}
