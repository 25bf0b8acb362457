package transport

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// lane passes the events of a stream on to the client, unchanged or translated.
type lane interface {
	// restore copies bytes that were taken, but not passed on, to the beginning of p,
	// and returns their number. It returns 0 if they are too many.
	restore(p []byte) int
	// take handles the bytes in p. Those before fresh come from restore, the others were
	// just read. take returns the number of bytes at the beginning of p that may be
	// passed on. It writes all other output to ready when the event is complete.
	take(p []byte, fresh int, ready *output) int
	// end handles the end of the body. eof reports whether the body ended with io.EOF,
	// or the wait for the usage of a finished stream is over. If eof is false, only a
	// stream whose last event was already written is finished.
	end(eof bool, ready *output)
	// signals returns the signals of all events so far.
	signals() signal.Signal
	// err returns an error if an event is too large.
	err() error
	// offset returns the number of bytes that were taken so far.
	offset() int64
	// lastEvent returns the offset of the end of the last event. A comment is no event.
	lastEvent() int64
	// continuation returns what the exchange's Appender writes its events with, nil if the
	// client's format needs none.
	continuation() format.Continuation
	// relaysErrors reports whether the provider's error event is passed on.
	relaysErrors() bool
	// observed returns what was read of the answer.
	observed() observed
}

// observed is what was read of an answer so far.
type observed interface {
	Usage() token.Usage
	Text() token.Text
	Model() string
	Reason() event.FinishReason
	Fault() *fault.Fault
	// Losses returns the parts of the answer that could not be translated.
	Losses() translate.Losses
}

const lastSignals = signal.Terminal | signal.Failed

// events splits a stream into events and collects their signals.
type events struct {
	lexer *sse.Lexer
	last  int64         // offset of the end of the last event
	sum   signal.Signal // union of the signals
}

func newEvents(t *Transport) events { return events{lexer: sse.NewLexer(int(t.MaxEventBytes))} }

func (s *events) signals() signal.Signal { return s.sum }
func (s *events) err() error             { return s.lexer.Err() }
func (s *events) offset() int64          { return s.lexer.Offset() }
func (s *events) lastEvent() int64       { return s.last }

// note adds the signal of an event that ends at an offset.
func (s *events) note(end int64, signal signal.Signal) {
	s.last = end
	s.add(signal)
}

func (s *events) add(sig signal.Signal) {
	if sig.Has(signal.Content) {
		s.sum &^= signal.Finish | signal.BlockEnd // a new choice or block has begun after the end of all earlier ones
	}
	s.sum |= sig
}
