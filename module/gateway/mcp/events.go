package mcp

import (
	"bytes"
	"errors"
	"io"
)

// Events reads a stream of events one after the other, as they are.
type Events struct {
	stream io.Reader
	most   int // bytes of an event
	read   []byte
	err    error
}

var errLineEnd = errors.New("an event of the server has a carriage return that does not end a line")

// Next returns the next event with the empty line that ends it, or comments with such a line. The bytes
// are valid until the next call. The error is io.EOF behind the last event. What a client could read as
// the end of a line, and the gateway would not, is an error.
func (e *Events) Next() ([]byte, error) {
	searched := 0
	for {
		if end := eventEnd(e.read, &searched); end > e.most {
			return nil, errTooLong
		} else if end > 0 {
			event := e.read[:end:end]
			e.read = e.read[end:]
			return event, checkLines(event)
		}
		switch {
		case len(e.read) > e.most:
			return nil, errTooLong
		case e.err != nil && len(e.read) > 0 && errors.Is(e.err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case e.err != nil:
			return nil, e.err
		}
		e.fill()
	}
}

// fill reads what has arrived.
func (e *Events) fill() {
	const step = 4 << 10
	if cap(e.read)-len(e.read) < step {
		e.read = append(make([]byte, 0, 2*len(e.read)+2*step), e.read...)
	}
	var n int
	n, e.err = e.stream.Read(e.read[len(e.read):cap(e.read)])
	e.read = e.read[:len(e.read)+n]
}

// eventEnd returns the end of the first event, behind the empty line, 0 if it is not there yet.
func eventEnd(text []byte, searched *int) int {
	for line := *searched; ; {
		i := bytes.IndexByte(text[line:], '\n')
		if i < 0 {
			return 0
		}
		if len(bytes.TrimRight(text[line:line+i], "\r")) == 0 {
			return line + i + 1
		}
		line += i + 1
		*searched = line
	}
}

func checkLines(event []byte) error {
	for i, c := range event {
		if c == '\r' && (i+1 == len(event) || event[i+1] != '\n') {
			return errLineEnd
		}
	}
	return nil
}
