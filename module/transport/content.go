package transport

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// passesContent reports whether the answer is passed on as it is: the content of a file, or the results
// of a batch.
func (c *call) passesContent() bool {
	o := c.attempt.Object()
	return o != nil && o.Content
}

// content is the content of a file, of which the lines are read if receive is not nil.
type content struct {
	receive func(line []byte)
	line    []byte // of which the end has not come
}

// maxResult is the length of the longest line of results that is read, in bytes. Longer ones are
// passed on, but the usage of their batch stays unknown.
const maxResult = maxAnswer

var newline = []byte("\n")

// read hands whole lines to who needs them.
func (r *content) read(part []byte) {
	if r.receive == nil {
		return
	}
	for line, rest, whole := bytes.Cut(part, newline); whole; line, rest, whole = bytes.Cut(part, newline) {
		if len(r.line) > 0 {
			line = append(r.line, line...)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			r.receive(line)
		}
		r.line, part = r.line[:0], rest
	}
	if len(r.line)+len(part) > maxResult {
		r.receive(nil)
		r.line, part = r.line[:0], nil
	}
	r.line = append(r.line, part...)
}

// end hands over the last line. What a batch has used is charged by its lines.
func (r *content) end() (token.Usage, token.Text) {
	r.read(newline)
	return token.Usage{}, token.Text{}
}
