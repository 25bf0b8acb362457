package request

import (
	"bytes"
	"errors"
	"io"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Lines gets the lines of an uploaded file, each of which is a request of a batch.
type Lines interface {
	// Line returns a line as the provider gets it, or why it is refused.
	Line(line []byte) ([]byte, *fault.Fault)
	// End returns what is known of the requests behind the last line.
	End() *exchange.Requests
}

// lines are those of the file of an upload. The text of the form that makes a request of each line may
// come behind the file: until then, a line that is no valid request ends the reading, and no more.
type lines struct {
	Lines
	longest int64        // in bytes
	certain bool         // the text that makes requests of the lines was read
	refused *fault.Fault // why the lines are no valid requests; nil so far
	number  int          // of the last line that was read
	count   int          // of the requests so far
	begun   bytes.Buffer // lines that were not read yet
	passed  int          // the bytes of begun without an end of a line
	edited  bool         // the provider gets other lines than the client has sent
}

// ReadLines shows the lines of the file to r, each of at most longest bytes, if they are requests.
func (u *Upload) ReadLines(r Lines, longest int64) { u.lines = &lines{Lines: r, longest: longest} }

// HasLines reads on until the first line was read, and reports whether it is a request. The fault is that
// of a form which is refused until then.
func (u *Upload) HasLines() (bool, *fault.Fault) {
	for u.ended == nil && u.reads() && u.lines.count == 0 {
		u.advance()
	}
	refused, _ := u.ended.(*fault.Fault)
	return u.reads() && u.lines.count > 0, refused
}

// reads reports whether the lines of the file are taken for requests so far.
func (u *Upload) reads() bool { return u.lines != nil && u.lines.refused == nil }

// noteText notes a text of the form.
func (u *Upload) noteText(name, text string) *fault.Fault {
	l := u.lines
	switch requests := u.form.Requests; {
	case l == nil || name != requests.Text:
	case text == requests.Value:
		l.certain = true
		return l.refused
	case l.edited:
		return fault.LateText(name)
	default:
		u.lines = nil
	}
	return nil
}

// endLines returns why a form is refused at its end.
func (u *Upload) endLines() *fault.Fault {
	switch l := u.lines; {
	case u.tap != nil:
		requests, refused := u.tap.End()
		u.requests.Store(requests)
		return refused
	case l == nil:
	case l.certain && l.count == 0:
		return fault.NoRequests(u.form.File)
	case l.certain:
		u.requests.Store(l.End())
	case l.edited:
		return fault.LateText(u.form.Requests.Text)
	}
	return nil
}

// copyLines writes the next lines of the file. The error is that of io.CopyN.
func (u *Upload) copyLines() error {
	l := u.lines
	_, err := io.CopyN(&l.begun, u.file, chunk)
	if begun := bytes.TrimLeft(l.begun.Bytes(), " \t\r\n"); !l.certain && l.number == 0 && len(begun) > 0 && begun[0] != '{' {
		u.refuseLines(fault.NoRequests(u.form.File))
	}
	for u.reads() {
		n := bytes.IndexByte(l.begun.Bytes()[l.passed:], '\n')
		if n < 0 {
			break
		}
		line := l.begun.Next(l.passed + n + 1)
		l.passed = 0
		u.copyLine(line)
	}
	switch l.passed = l.begun.Len(); {
	case !u.reads() || l.passed == 0:
	case int64(l.passed) > l.longest:
		u.refuseLines(fault.LongLine(l.longest).InLine(l.number + 1))
	case errors.Is(err, io.EOF):
		u.copyLine(l.begun.Next(l.passed))
	}
	return err
}

// copyLine writes a line.
func (u *Upload) copyLine(line []byte) {
	l := u.lines
	l.number++
	if len(bytes.TrimSpace(line)) == 0 {
		u.unread.Write(line)
		return
	}
	sent, refused := l.Line(line)
	if refused != nil {
		u.unread.Write(line)
		u.refuseLines(refused.InLine(l.number))
		return
	}
	l.count++
	l.edited = l.edited || !bytes.Equal(sent, line)
	u.unread.Write(sent)
}

// refuseLines ends the reading of the lines, and the form as well if they must be requests.
func (u *Upload) refuseLines(refused *fault.Fault) {
	l := u.lines
	if l.refused = refused; l.certain {
		u.ended = refused
	}
	u.unread.Write(l.begun.Bytes())
	l.begun = bytes.Buffer{}
}
