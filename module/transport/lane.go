package transport

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// lane is the way of a stream's events to the client: as they are, or translated.
type lane interface {
	// restore puts bytes that were taken, but not handed on yet, to the
	// beginning of p again, and returns their number. They may be too many.
	restore(p []byte) int
	// take handles the bytes in p, of which those from fresh on were just read.
	// It returns how many bytes at the beginning of p may be handed on; all
	// other output goes to ready, now or once its event is complete.
	take(p []byte, fresh int, ready *bytes.Buffer) int
	// end handles the end of the body. A body that ends in an orderly way may end
	// any stream; one that breaks off, only a stream that the gateway had ended.
	end(orderly bool, ready *bytes.Buffer)
	// signals returns the signals of all events so far.
	signals() signal.Signal
	// err returns an error if an event is too large.
	err() error
	// offset returns the number of bytes that were taken so far.
	offset() int64
	// lastEvent returns the offset of the end of the last event. A comment is no event.
	lastEvent() int64
	// continuation returns what continues the stream between two events, nil if the
	// client's format needs nothing of the kind.
	continuation() format.Continuation
	// relaysErrors reports whether the provider's own error event is handed on.
	relaysErrors() bool
	Usage() token.Usage
	Model() string
	Fault() *fault.Fault
	// Losses returns the parts of the answer that could not be translated.
	Losses() translate.Losses
}

const lastSignals = signal.Terminal | signal.Failed

// events divides a stream into events and adds up their signals.
type events struct {
	lexer *sse.Lexer
	last  int64 // offset behind the last event
	sum   signal.Signal
}

func (s *events) signals() signal.Signal { return s.sum }
func (s *events) err() error             { return s.lexer.Err() }
func (s *events) offset() int64          { return s.lexer.Offset() }
func (s *events) lastEvent() int64       { return s.last }

// note adds the signal of an event.
func (s *events) note(event sse.Event, signal signal.Signal) {
	s.last = event.End
	s.add(signal)
}

func (s *events) add(sig signal.Signal) {
	if sig.Has(signal.Content) {
		s.sum &^= signal.Finish // of the choices seen before this one
	}
	s.sum |= sig
}
