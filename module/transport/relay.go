package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// relay is the body of a streamed answer on the byte lane: the provider's bytes
// as they came, while an observer watches the events. Only whole events are
// handed on, so that a stream that breaks off never leaves half of one, and
// nothing is handed on after the event that ends the stream. To its reader,
// relay always ends in an orderly way; how the stream really ended stands in
// the attempt.
type relay struct {
	call     *call
	src      io.Reader
	upstream io.Closer
	lexer    *sse.Lexer
	observer translate.Observer
	withhold bool // keep events that hold nothing but usage from the client

	ready   bytes.Buffer // bytes that may be handed on
	pending []byte       // the beginning of an event that is not complete yet
	kept    []span       // events of the bytes just taken that are withheld
	primed  bool
	seen    translate.Signal
	ended   bool
}

// span is a range of the stream, in bytes from its beginning.
type span struct{ start, end int64 }

const lastSignals = translate.Terminal | translate.Failed

// prime reads up to the first meaningful event. Its error is one of the
// connection; any other failure is left in the attempt.
func (r *relay) prime() error {
	buf := make([]byte, 4<<10)
	for r.seen&(translate.Content|lastSignals) == 0 {
		n, err := r.src.Read(buf)
		r.ready.Write(buf[:r.take(buf[:n])])
		if r.seen&(translate.Content|lastSignals) != 0 {
			break
		}
		if err == io.EOF {
			r.end(err)
			break
		}
		if err = errors.Join(err, r.lexer.Err()); err != nil {
			return err
		}
	}
	r.primed = true
	return nil
}

// Read hands on the next bytes.
func (r *relay) Read(p []byte) (int, error) {
	for {
		if r.ready.Len() > 0 {
			return r.ready.Read(p)
		}
		if r.ended {
			return 0, io.EOF
		}
		if r.seen&lastSignals != 0 {
			r.drain(p)
			continue
		}
		n, err := r.src.Read(p)
		n = r.take(p[:n])
		if err = errors.Join(err, r.lexer.Err()); err != nil && r.seen&lastSignals == 0 {
			r.end(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// take observes bytes just read. It returns how many of them may be handed on
// as they are; what cannot goes to ready, now or once its event is complete.
func (r *relay) take(p []byte) int {
	if len(p) == 0 {
		return 0
	}
	if r.primed {
		r.call.watch.touch()
	}
	first := r.lexer.Offset() - int64(len(r.pending)) // offset of the first byte not handed on
	r.lexer.Feed(p)
	end := r.observe()
	if len(r.pending) == 0 && len(r.kept) == 0 {
		n := int(end - first)
		r.pending = append(r.pending, p[n:]...)
		return n
	}
	r.pending = append(r.pending, p...)
	at := first
	for _, kept := range r.kept {
		r.ready.Write(r.pending[at-first : kept.start-first])
		at = kept.end
	}
	r.ready.Write(r.pending[at-first : end-first])
	if end > first { // else a long event would be copied with each of its pieces
		r.pending = append(r.pending[:0], r.pending[end-first:]...)
	}
	return 0
}

// observe looks at every event that is complete by now, and notes those to
// withhold. It returns the offset behind the last event that may be handed on.
func (r *relay) observe() (end int64) {
	r.kept = r.kept[:0]
	for {
		event, ok := r.lexer.Next()
		if !ok {
			return r.lexer.Settled()
		}
		if r.note(event) {
			r.kept = append(r.kept, span{event.Start, event.End})
		}
		if r.seen&lastSignals != 0 {
			return event.End
		}
	}
}

// note writes down what an event says. It reports whether the client is not to
// see the event.
func (r *relay) note(event sse.Event) (kept bool) {
	signal := r.observer.Observe(event)
	if signal.Has(translate.Content) {
		r.seen &^= translate.Finish // of the choices seen before this one
	}
	r.seen |= signal
	if signal&lastSignals != 0 {
		r.noteEnd(signal)
	}
	return r.withhold && signal.Has(translate.UsageOnly)
}

// noteEnd writes down how the stream ended by its own word.
func (r *relay) noteEnd(signal translate.Signal) {
	if signal.Has(translate.Failed) {
		r.call.attempt.Fault = r.observer.Fault()
		r.call.attempt.Relayed = r.seen.Has(translate.Content)
		return
	}
	r.call.attempt.Finished = true
}

// drain reads on after the last event, for nothing but the end of the body: a
// connection is used again only once it was seen.
func (r *relay) drain(buf []byte) {
	r.call.watch.enter(phase{time.Duration(r.call.t.UsageWait), errDrain})
	for range 16 {
		if _, err := r.src.Read(buf); err != nil {
			break
		}
	}
	r.ended = true
}

// end ends a stream whose last event did not come yet.
func (r *relay) end(err error) {
	r.ended = true
	orderly := errors.Is(err, io.EOF)
	if orderly {
		r.takeLast()
	}
	a := r.call.attempt
	switch cause := context.Cause(r.call.ctx); {
	case r.call.client.Err() != nil, r.seen&lastSignals != 0:
	case orderly && r.finishedAtEOF():
		a.Finished = true
	case cause != nil:
		a.Fault = translate.UpstreamTimeout(cause)
	default:
		a.Fault = translate.Truncated(err)
	}
}

// takeLast takes in an event that lacks only its blank line, and adds that: a
// reader who keeps to the standard drops an event without one.
func (r *relay) takeLast() {
	event, ok := r.lexer.Close()
	if !ok || r.note(event) {
		return
	}
	switch text := bytes.TrimRight(r.pending, "\r\n"); string(r.pending[len(text):]) {
	case "", "\n", "\r", "\r\n":
		r.ready.Write(text)
		r.ready.WriteString("\n\n")
	default: // it ended with a lone CR, behind which an LF could have followed
		r.ready.Write(r.pending)
	}
}

// finishedAtEOF reports whether the end of the body is the end of the stream,
// because this provider is known to end its streams without [DONE].
func (r *relay) finishedAtEOF() bool {
	return r.call.t.StreamEnd == exchange.StreamEndFinish && r.seen.Has(translate.Finish) &&
		r.lexer.Settled() == r.lexer.Offset()
}

// Close ends the call. It may come at any time: when the stream is over, when
// the client is gone, when a write failed.
func (r *relay) Close() error {
	a := r.call.attempt
	a.Usage, a.AnsweredBy = r.observer.Usage(), r.observer.Model()
	r.call.end()
	return r.upstream.Close()
}
