package transport

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// byteLane hands the provider's bytes on as they came while an observer watches
// the events. Only whole events are handed on, so that a stream that breaks off
// never leaves half of one.
type byteLane struct {
	translate.Observer
	sayings
	format   translate.Format
	withhold bool // keep events that hold nothing but usage from the client
	onFinish bool // an orderly end of the body is the end once every choice has finished

	revealing func([]byte) bool // reports whether an event repeats the provider's credential
	hidden    bool              // the provider's error event was withheld: the client gets the gateway's own

	pending []byte // the beginning of an event that is not complete yet
	kept    []span // events of the bytes just taken that are withheld
	failing span   // the provider's error event, once it came
}

// span is a range of the stream, in bytes from its beginning.
type span struct{ start, end int64 }

// Losses: nothing is lost on the way of the bytes.
func (l *byteLane) Losses() translate.Losses { return nil }

func (l *byteLane) relaysErrors() bool { return !l.hidden }

// restore: the beginning of an event that was not complete goes in front of its
// rest, so that both can be handed on as one. A long one stays where it is.
func (l *byteLane) restore(p []byte) int {
	if len(l.pending) > len(p)/2 {
		return 0
	}
	n := copy(p, l.pending)
	l.pending = l.pending[:0]
	return n
}

func (l *byteLane) take(p []byte, fresh int, ready *bytes.Buffer) int {
	first := l.lexer.Offset() - int64(fresh) - int64(len(l.pending)) // offset of the first byte not handed on
	l.lexer.Feed(p[fresh:])
	end := l.observe()
	if len(l.pending) > 0 {
		l.pending = append(l.pending, p...)
		if end > first { // else a long event would be copied with each of its pieces
			ready.Write(l.pending[:l.cut(l.pending[:end-first], first)])
			l.pending = append(l.pending[:0], l.pending[end-first:]...)
		}
		return 0
	}
	l.pending = append(l.pending, p[end-first:]...)
	return l.cut(p[:end-first], first)
}

// cut removes the withheld events from whole ones, of which the first begins at
// that offset of the stream, and returns the length of the rest.
func (l *byteLane) cut(events []byte, first int64) int {
	l.hide(events, first)
	if len(l.kept) == 0 {
		return len(events)
	}
	n, at := 0, first
	for _, kept := range l.kept {
		n += copy(events[n:], events[at-first:kept.start-first])
		at = kept.end
	}
	return n + copy(events[n:], events[at-first:])
}

// hide withholds the provider's error event if it repeats the credential
// anywhere, in its comments and other fields too.
func (l *byteLane) hide(events []byte, first int64) {
	if at := l.failing; !l.hidden && at.end > first && l.revealing(events[at.start-first:at.end-first]) {
		l.hidden = true
		l.kept = append(l.kept, at)
	}
}

// observe looks at every event that is complete by now, and notes those to
// withhold. It returns the offset behind the last event that may be handed on.
func (l *byteLane) observe() (end int64) {
	l.kept = l.kept[:0]
	for {
		event, ok := l.lexer.Next()
		if !ok {
			return l.lexer.Settled()
		}
		if l.note(event) {
			l.kept = append(l.kept, span{event.Start, event.End})
		}
		if l.sum&lastSignals != 0 {
			return event.End
		}
	}
}

// note adds what an event says. It reports whether the client is not to see it.
func (l *byteLane) note(event sse.Event) (kept bool) {
	signal := l.Observe(event)
	l.hear(event, signal)
	if signal.Has(translate.Failed) {
		l.failing = span{event.Start, event.End}
		l.hidden = !translate.RelayableEvent(event.Name, event.Data, l.format)
		return l.hidden
	}
	return l.withhold && signal.Has(translate.UsageOnly)
}

// end takes in an event that lacks only its blank line. Some providers are
// known to end their streams without [DONE].
func (l *byteLane) end(orderly bool, ready *bytes.Buffer) {
	if !orderly {
		return
	}
	if event, ok := l.lexer.Close(); ok && !l.note(event) {
		if l.hide(l.pending, l.lexer.Offset()-int64(len(l.pending))); !l.hidden {
			ready.Write(completed(l.pending))
		}
	}
	if l.onFinish && l.sum.Has(translate.Finish) && l.lexer.Settled() == l.lexer.Offset() {
		l.add(translate.Terminal)
	}
}

// completed adds the blank line that an event lacks: a reader who keeps to the
// standard drops an event without one.
func completed(event []byte) []byte {
	switch text := bytes.TrimRight(event, "\r\n"); string(event[len(text):]) {
	case "", "\n", "\r", "\r\n":
		return append(text, "\n\n"...)
	default: // it ended with a lone CR, behind which an LF could have followed
		return event
	}
}
