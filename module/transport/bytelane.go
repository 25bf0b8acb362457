package transport

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// byteLane hands the provider's bytes on as they came, while an observer reads the
// events. It hands on whole events only, so that a stream that breaks off never ends
// in the middle of one.
type byteLane struct {
	signal.Observer
	events
	format   *format.Descriptor
	withhold bool   // keep events that hold nothing but usage from the client
	usage    editor // of other events that hold usage; nil for none
	onFinish bool   // an orderly end of the body is the end once every choice has finished

	// isPrivate reports whether clients may not read an error event as it is.
	isPrivate func([]byte) bool
	hidden    bool // the provider's error event was withheld: the client gets the gateway's own

	pending []byte      // the beginning of an event that is not complete yet
	edits   []edit.Edit // of the bytes just taken
}

// editor appends edits of the data of an event, or of a JSON answer.
type editor func(edits []edit.Edit, data []byte) []edit.Edit

// Losses returns nothing: the client gets the provider's own bytes.
func (l *byteLane) Losses() translate.Losses { return nil }

func (l *byteLane) continuation() format.Continuation {
	c, _ := l.Observer.(format.Continuation)
	return c
}

func (l *byteLane) relaysErrors() bool { return !l.hidden }

// restore puts the beginning of an incomplete event in front of its rest, so that both
// can be handed on at once. A long one stays where it is.
func (l *byteLane) restore(p []byte) int {
	if len(l.pending) > len(p)/2 {
		return 0
	}
	n := copy(p, l.pending)
	l.pending = l.pending[:0]
	return n
}

func (l *byteLane) take(p []byte, fresh int, ready *bytes.Buffer) int {
	l.lexer.Feed(p[fresh:])
	if len(l.pending) > 0 {
		l.pending = append(l.pending, p...)
		if n := l.observe(l.pending); n > 0 { // else a long event would be copied with each of its pieces
			l.write(l.pending[:n], ready)
			l.pending = append(l.pending[:0], l.pending[n:]...)
		}
		return 0
	}
	n := l.observe(p)
	l.pending = append(l.pending, p[n:]...)
	if len(l.edits) == 0 {
		return n
	}
	l.write(p[:n], ready)
	return 0
}

// write hands on whole events with their edits.
func (l *byteLane) write(events []byte, ready *bytes.Buffer) {
	ready.Write(edit.Apply(ready.AvailableBuffer(), events, l.edits))
}

// observe reads the events that are complete by now, and collects their edits. held
// are the bytes that were not handed on yet; it returns how many of them may be.
func (l *byteLane) observe(held []byte) (n int) {
	first := l.lexer.Offset() - int64(len(held))
	l.edits = l.edits[:0]
	for {
		event, ok := l.lexer.Next()
		if !ok {
			return int(l.lexer.Settled() - first)
		}
		l.note(event, held, first)
		if l.sum&lastSignals != 0 {
			return int(event.End - first)
		}
	}
}

// note adds the signal of an event, and its edits of the bytes held, which begin at
// the offset first of the stream. It reports whether the client gets the event.
func (l *byteLane) note(event sse.Event, held []byte, first int64) (shown bool) {
	sig := l.Observe(event)
	l.events.note(event, sig)
	at := translate.Span{Start: int(event.Start - first), End: int(event.End - first)}
	raw := held[at.Start:at.End]
	switch {
	case l.keeps(event, sig, raw):
		l.edits = append(l.edits, edit.Edit{Span: at})
		return false
	case l.usage != nil && sig.Has(signal.HasUsage):
		l.editUsage(event, raw, at.Start)
	}
	return true
}

// keeps reports whether an event is withheld from the client: usage that it did not
// ask for, and an error that it could not read, or may not read because of its data, its
// comments or another field.
func (l *byteLane) keeps(event sse.Event, sig signal.Signal, raw []byte) bool {
	if sig.Has(signal.Failed) {
		l.hidden = !l.format.Errors.RelayableEvent(event.Name, event.Data) || l.isPrivate(raw)
		return l.hidden
	}
	return l.withhold && sig.Has(signal.UsageOnly)
}

// editUsage collects the edits of an event's usage. The event begins at the index at
// of the bytes held.
func (l *byteLane) editUsage(event sse.Event, raw []byte, at int) {
	before := len(l.edits)
	l.edits = l.usage(l.edits, event.Data)
	for i := range l.edits[before:] {
		e := &l.edits[before+i]
		e.Start, e.End = at+event.Locate(raw, e.Start), at+event.Locate(raw, e.End)
	}
}

// end takes an event that lacks only its blank line. Some providers end their streams
// without [DONE].
func (l *byteLane) end(orderly bool, ready *bytes.Buffer) {
	if !orderly {
		return
	}
	l.edits = l.edits[:0]
	if event, ok := l.lexer.Close(); ok && l.note(event, l.pending, event.Start) {
		ready.Write(completed(edit.Apply(nil, l.pending, l.edits)))
	}
	if l.onFinish && l.sum.Has(signal.Finish) && l.lexer.Settled() == l.lexer.Offset() {
		l.add(signal.Terminal)
	}
}

// completed adds the blank line that an event lacks: by the standard, a reader drops
// an event without one.
func completed(event []byte) []byte {
	switch text := bytes.TrimRight(event, "\r\n"); string(event[len(text):]) {
	case "", "\n", "\r", "\r\n":
		return append(text, "\n\n"...)
	default: // it ended with a lone CR, behind which an LF could have followed
		return event
	}
}
