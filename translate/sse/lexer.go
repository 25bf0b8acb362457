package sse

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// DefaultMaxEvent is the limit of one event in bytes, unless another is given.
const DefaultMaxEvent = 32 << 20

// ErrTooLarge reports an event beyond the limit.
var ErrTooLarge = errors.New("event too large")

// Event is one event of a stream. Its slices are valid until the next call of a
// method of the lexer.
type Event struct {
	Name       []byte // value of the last event field; nil if there is none or it is empty
	Data       []byte // values of the data fields, joined with LF
	Start, End int64  // its range in the stream, from behind the blank line before it to behind its own
	HasData    bool   // always true: an event without data field is dropped
}

// Lexer divides a stream into events. It is made by NewLexer and is not for
// concurrent use.
type Lexer struct {
	lines   lines
	name    value
	data    value
	max     int64 // limit of one event in bytes
	begun   bool  // the first line, which may have a byte order mark, is over
	fed     int64
	settled int64
	err     error
}

// NewLexer returns a lexer for one stream. More than maxEvent bytes without a
// blank line, comments and ignored fields included, are an error; 0 stands for
// DefaultMaxEvent.
func NewLexer(maxEvent int) *Lexer {
	if maxEvent == 0 {
		maxEvent = DefaultMaxEvent
	}
	return &Lexer{max: int64(maxEvent)}
}

// Feed adds the next bytes of the stream. They must not change until Next has
// returned false.
func (l *Lexer) Feed(p []byte) {
	l.fed += int64(len(p))
	l.lines.feed(p)
}

// byteOrderMark may stand before the first line.
var byteOrderMark = []byte("\ufeff")

// Next returns the next event that is complete; false if that takes more bytes,
// or after an error.
func (l *Lexer) Next() (Event, bool) {
	for l.err == nil {
		line, ok := l.lines.next()
		if !ok {
			l.hold()
			break
		}
		if event, ok := l.take(line); ok {
			return event, true
		}
	}
	return Event{}, false
}

// Close ends the stream. It returns an event that was not terminated if its data
// is "[DONE]" or complete JSON: some servers leave out the last blank line. It is
// called when Next has returned false.
func (l *Lexer) Close() (Event, bool) {
	if event, ok := l.Next(); ok || l.err != nil {
		return event, ok
	}
	line, ended := l.lines.last()
	if ended || len(line) > 0 {
		if event, ok := l.take(line); ok {
			return event, true
		}
	}
	if l.data.set && complete(l.data.text) {
		return l.dispatch()
	}
	return Event{}, false
}

// Err returns the error that ended the lexing, which wraps ErrTooLarge.
func (l *Lexer) Err() error { return l.err }

// Offset returns how many bytes were fed.
func (l *Lexer) Offset() int64 { return l.fed }

// Settled returns the offset behind the last blank line: of an event that was
// returned, or of comments and fields that make none. Nothing before it will
// belong to a later event.
func (l *Lexer) Settled() int64 { return l.settled }

// take takes in one line, and returns the event that it terminates.
func (l *Lexer) take(line []byte) (Event, bool) {
	if l.limit(); l.err != nil {
		return Event{}, false
	}
	if !l.begun {
		line = bytes.TrimPrefix(line, byteOrderMark)
		l.begun = true
	}
	if len(line) == 0 {
		return l.dispatch()
	}
	l.field(line)
	return Event{}, false
}

// field takes in a line that is not blank. A comment is a field without name.
func (l *Lexer) field(line []byte) {
	name, text := cutField(line)
	switch string(name) {
	case "data":
		l.data.join(text)
	case "event":
		l.name.put(text)
	}
}

// cutField divides a line into the name and the value of its field.
func cutField(line []byte) (name, text []byte) {
	name, text, _ = bytes.Cut(line, []byte{':'})
	return name, bytes.TrimPrefix(text, []byte{' '})
}

// dispatch ends the event, and returns it if it has data.
func (l *Lexer) dispatch() (Event, bool) {
	event := Event{
		Name:    l.name.text,
		Data:    l.data.text,
		Start:   l.settled,
		End:     l.taken(),
		HasData: l.data.set,
	}
	if len(event.Name) == 0 {
		event.Name = nil
	}
	l.settled = event.End
	l.name.clear()
	l.data.clear()
	if !event.HasData {
		return Event{}, false
	}
	return event, true
}

// hold copies what the next feed will continue.
func (l *Lexer) hold() {
	l.name.keep()
	l.data.keep()
	l.lines.hold()
	l.limit()
}

// taken returns the offset behind the bytes that were taken in.
func (l *Lexer) taken() int64 { return l.fed - int64(l.lines.left()) }

// limit fails if the bytes since the last blank line are too many for one event.
// Lines that make no event count as well: whoever relays the stream keeps them.
func (l *Lexer) limit() {
	if l.taken()-l.settled > l.max {
		l.err = fmt.Errorf("reading event at byte %d: %w", l.settled, ErrTooLarge)
	}
}

// complete reports whether the data of an event that was not terminated is whole.
func complete(data []byte) bool {
	if string(data) == "[DONE]" {
		return true
	}
	c := jsonscan.New(data)
	c.Skip()
	return c.Finish() == nil
}
