package transport

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// byteLane passes the provider's bytes on unchanged, while an observer reads the events.
// It passes on whole events only, so that a stream that breaks off never ends inside an
// event.
type byteLane struct {
	signal.Observer
	events
	format   *format.Descriptor
	withhold bool   // withhold events that contain only usage
	usage    editor // of other events with usage: cuts it out, or fills in fields; nil for none
	objects  editor // of all events: seals ids of stored objects; nil for none
	onFinish bool   // an EOF ends the stream as finished after every choice has finished

	hide    redactor
	relayed bool // an error event of the provider was passed on, so the sink sends none of the gateway

	pending []byte      // the beginning of an incomplete event
	edits   []edit.Edit // of the bytes that were taken last
}

// editor appends edits of the data of an event, or of a JSON answer.
type editor func(edits []edit.Edit, data []byte) []edit.Edit

func (l *byteLane) observed() observed { return l }

// Losses returns nil, because the client gets the provider's bytes.
func (l *byteLane) Losses() translate.Losses { return nil }

func (l *byteLane) continuation() format.Continuation {
	c, _ := l.Observer.(format.Continuation)
	if c != nil && l.objects != nil {
		return sealedContinuation{c, l.objects}
	}
	return c
}

func (l *byteLane) relaysErrors() bool { return l.relayed }

// restore copies the beginning of an incomplete event to p, so that the event can be passed
// on from there. It does not copy a long one.
func (l *byteLane) restore(p []byte) int {
	if len(l.pending) > len(p)/2 {
		return 0
	}
	n := copy(p, l.pending)
	l.pending = l.pending[:0]
	return n
}

func (l *byteLane) take(p []byte, fresh int, ready *output) int {
	l.lexer.Feed(p[fresh:])
	if len(l.pending) > 0 {
		l.pending = append(l.pending, p...)
		if n := l.observe(l.pending); n > 0 { // otherwise a long event would be copied with each of its pieces
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

// write passes on whole events with their edits.
func (l *byteLane) write(events []byte, ready *output) {
	buffer := ready.buffer()
	buffer.Write(edit.Apply(buffer.AvailableBuffer(), events, l.edits))
}

// observe reads the complete events in held, the bytes that were not passed on yet, and
// collects their edits. It returns the number of bytes that may be passed on.
func (l *byteLane) observe(held []byte) (n int) {
	first := l.lexer.Offset() - int64(len(held))
	l.edits = l.edits[:0]
	for {
		if l.Repeat(l.lexer) > 0 { // nearly all of a stream
			l.events.note(l.lexer.Settled(), signal.Content)
		}
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

// note adds the signal and the edits of an event. held are the bytes that were not passed
// on yet, which begin at the offset first of the stream. note reports whether the client
// gets the event.
func (l *byteLane) note(event sse.Event, held []byte, first int64) (shown bool) {
	sig, failing := l.Observe(event), l.sum.Has(signal.Failing)
	l.events.note(event.End, sig)
	span := translate.Span{Start: int(event.Start - first), End: int(event.End - first)}
	raw, count := held[span.Start:span.End], len(l.edits)
	switch {
	case failing && !sig.Has(signal.Failed), l.withholds(event, sig, raw): // behind a failure, only its reason is passed on
		l.edits = append(l.edits, edit.Edit{Span: span})
		return false
	case l.usage != nil && sig.Has(signal.HasUsage):
		l.edits = placed(l.edits, l.usage, event, raw, span.Start)
	}
	if l.objects != nil {
		l.edits = placed(l.edits, l.objects, event, raw, span.Start)
		slices.SortFunc(l.edits[count:], func(a, b edit.Edit) int { return a.Start - b.Start }) // usage is behind the id
	}
	return true
}

// withholds reports whether the client does not get an event: usage for which the client
// did not ask, and an error that the client cannot read, or must not read because of its
// data, its comments or another field.
func (l *byteLane) withholds(event sse.Event, sig signal.Signal, raw []byte) bool {
	if sig&(signal.Failed|signal.Failing) != 0 {
		hidden := !l.format.Errors.RelayableEvent(event.Name, event.Data) || l.hide.isPrivate(raw)
		l.relayed = l.relayed || !hidden
		return hidden
	}
	return l.withhold && sig.Has(signal.UsageOnly)
}

// end implements lane.
func (l *byteLane) end(eof bool, ready *output) {
	if eof {
		l.endBody(ready)
	}
	if l.sum.Has(signal.Failing) { // no reason has followed
		l.add(signal.Failed)
	}
}

// endBody handles the end of a whole body. It passes on a last event that lacks only its blank
// line.
func (l *byteLane) endBody(ready *output) {
	l.edits = l.edits[:0]
	if event, ok := l.lexer.Close(); ok && l.note(event, l.pending, event.Start) {
		ready.Write(completed(edit.Apply(nil, l.pending, l.edits)))
	}
	if l.onFinish && l.sum.Has(signal.Finish) && l.lexer.Settled() == l.lexer.Offset() {
		l.add(signal.Terminal)
	}
}

// completed returns an event with the blank line that it lacks: by the standard, a reader
// drops an event without one.
func completed(event []byte) []byte {
	switch text := bytes.TrimRight(event, "\r\n"); string(event[len(text):]) {
	case "", "\n", "\r", "\r\n":
		return append(text, "\n\n"...)
	default: // the event ends with a lone CR, after which an LF could have followed
		return event
	}
}
