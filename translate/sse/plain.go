package sse

import "bytes"

// What nearly all events consist of, beside their names and their data.
const (
	eventField = "event: "
	dataField  = "data: "
	blankLine  = "\n\n" // with the end of the line before
)

// ahead returns the bytes behind the last event, if the feed has them, and as many as one
// event may have.
func (l *Lexer) ahead() []byte {
	if l.taken() != l.settled || l.bare.set {
		return nil
	}
	rest := l.lines.data[l.lines.pos:]
	return rest[:min(int64(len(rest)), l.max)]
}

// skip passes over the event of size bytes with which ahead begins.
func (l *Lexer) skip(size int) {
	l.begun = true
	l.lines.pos += size
	l.settled += int64(size)
}

// plain returns the next event if it is whole, and has the form that nearly all events have:
// a line with a name or none, a line with data, and a blank line, which end with LF. It is
// what take makes of these lines, in a third of the time.
func (l *Lexer) plain() (Event, bool) {
	text := l.ahead()
	if len(text) == 0 || l.lines.hasCR() {
		return Event{}, false
	}
	name, rest, ok := cutHead(text)
	if !ok {
		return Event{}, false
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 || !begins(rest[end:], blankLine) {
		return Event{}, false
	}
	if len(name) == 0 {
		name = nil
	}
	start := l.settled
	l.skip(len(text) - len(rest[end:]) + len(blankLine))
	return Event{Name: name, Data: rest[:end], Start: start, End: l.settled}, true
}

// cutHead cuts off what nearly all events begin with: a line with a name or none, and the
// beginning of a line with data.
func cutHead(event []byte) (name, data []byte, ok bool) {
	if begins(event, eventField) {
		name, event, _ = bytes.Cut(event[len(eventField):], []byte{'\n'}) // without a line feed, no data follows
	}
	if !begins(event, dataField) {
		return nil, nil, false
	}
	return name, event[len(dataField):], true
}

// headOf returns what AppendEvent writes before the data of an event, and the name in it.
func headOf(eventName []byte) (name, head string) {
	if len(eventName) == 0 {
		return "", dataField
	}
	head = eventField + string(eventName) + "\n" + dataField
	return head[len(eventField):][:len(eventName)], head
}

// begins reports whether a text begins with another; bytes.HasPrefix takes longer.
func begins(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}
