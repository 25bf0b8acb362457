package sse

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// DefaultMaxEvent is the default limit of one event, in bytes.
const DefaultMaxEvent = 32 << 20

// ErrTooLarge reports an event beyond the limit.
var ErrTooLarge = errors.New("event too large")

// Event is one event of a stream. Its slices are valid until the next call of a
// method of the lexer.
type Event struct {
	Name       []byte // value of the last event field; nil if there is none or it is empty
	Data       []byte // values of the data fields, joined with LF
	Start, End int64  // the range in the stream, from behind the previous blank line to behind the one that ends the event
}

// IsDone reports whether the event is "[DONE]", with which many services end a stream. Some write
// white space around it.
func (e *Event) IsDone() bool { return isDone(e.Data) }

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// Lexer divides a stream into events. NewLexer makes one. A Lexer is not safe for
// concurrent use.
type Lexer struct {
	lines   lines
	name    value
	data    value
	bare    value // lines that are no fields, from one on that begins an object or an array
	max     int64 // limit of one event in bytes
	begun   bool  // the first line, which may have a byte order mark, has been read
	fed     int64
	settled int64
	err     error
}

// NewLexer returns a lexer for one stream. More than maxEvent bytes without a
// blank line, comments and ignored fields included, are an error; 0 means
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

// byteOrderMark may precede the first line.
var byteOrderMark = []byte("\ufeff")

// Next returns the next complete event. It returns false if the event needs more bytes,
// and after an error.
func (l *Lexer) Next() (Event, bool) {
	for l.err == nil {
		if event, ok := l.plain(); ok {
			return event, true
		}
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

// Close ends the stream. It returns an unterminated event if its data is "[DONE]" or
// complete JSON: some servers leave out the last blank line. It must be called after
// Next has returned false.
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

// Bare returns the JSON without a field that follows the last event: some servers write the
// error that ends a stream in this way. It must be called after Close has returned false.
func (l *Lexer) Bare() (Event, bool) {
	if l.err != nil || l.data.set || !l.bare.set || !isJSON(l.bare.text) {
		return Event{}, false
	}
	return Event{Data: l.bare.text, Start: l.settled, End: l.fed}, true
}

// Err returns the error that ended the lexing, which wraps ErrTooLarge.
func (l *Lexer) Err() error { return l.err }

// Offset returns the number of bytes fed.
func (l *Lexer) Offset() int64 { return l.fed }

// Settled returns the offset behind the last blank line. It ends an event that was
// returned, or comments and fields that belong to no event. Bytes before the offset
// never belong to a later event.
func (l *Lexer) Settled() int64 { return l.settled }

// take adds a line, and returns the event that the line terminates.
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

// field adds a line that is not blank. A comment is a field without a name.
func (l *Lexer) field(line []byte) {
	name, text := cutField(line)
	switch string(name) {
	case "data":
		l.data.join(text)
	case "event":
		l.name.put(text)
	case "": // a comment
	default:
		if l.bare.set || line[0] == '{' || line[0] == '[' {
			l.bare.join(line)
		}
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
		Name:  l.name.text,
		Data:  l.data.text,
		Start: l.settled,
		End:   l.taken(),
	}
	if len(event.Name) == 0 {
		event.Name = nil
	}
	hasData := l.data.set
	l.settled = event.End
	l.name.clear()
	l.data.clear()
	if l.bare.set && (hasData || !isJSON(l.bare.text)) {
		l.bare.clear()
	}
	if !hasData { // an event without a data field is dropped
		return Event{}, false
	}
	return event, true
}

// hold copies the unfinished line and event, since their feed is only valid until the next.
func (l *Lexer) hold() {
	l.name.keep()
	l.data.keep()
	l.bare.keep()
	l.lines.hold()
	l.limit()
}

// taken returns the offset behind the last line that was read.
func (l *Lexer) taken() int64 { return l.fed - int64(l.lines.left()) }

// limit fails if there are too many bytes since the last blank line. Lines that belong
// to no event count as well, since a relay of the stream buffers them.
func (l *Lexer) limit() {
	if l.taken()-l.settled > l.max {
		l.err = fmt.Errorf("reading event at byte %d: %w", l.settled, ErrTooLarge)
	}
}

// complete reports whether the data of an unterminated event is complete.
func complete(data []byte) bool { return isDone(data) || isJSON(data) }

// isJSON reports whether a text is one JSON value.
func isJSON(text []byte) bool {
	c := jsonscan.New(text)
	c.Skip()
	return c.Finish() == nil
}
