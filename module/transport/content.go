package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// passesContent reports whether the answer is passed on as it is: the content of a file, or the results
// of a batch.
func (c *call) passesContent() bool {
	o := c.attempt.Object()
	return o != nil && o.Content
}

// content returns a response with the provider's bytes, as they arrive.
func (c *call) content(res *http.Response) (*http.Response, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil {
		return nil, c.unread(err)
	}
	src, length := io.Reader(res.Body), res.ContentLength
	if name != "" {
		if src, err = coding.NewReader(name, res.Body); err != nil {
			return nil, c.unread(fmt.Errorf("decoding content: %w", err))
		}
		length = -1
	}
	c.result.State, c.result.Began = exchange.Content, time.Now()
	c.life.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	c.life.watch.Hold() // until the first Read
	return c.response(res, http.StatusOK, &content{call: c, src: src}, length), nil
}

// content is the body of an answer that is passed on as it is. Read always ends with io.EOF; the
// result of the call has the state in which the answer ended.
type content struct {
	call *call
	src  io.Reader // nil when nothing more is read
	line []byte    // of which the end has not come
}

// maxResult is the length of the longest line of results that is read, in bytes. Longer ones are
// passed on, but the usage of their batch stays unknown.
const maxResult = maxAnswer

var newline = []byte("\n")

// Read returns the next bytes. The watch runs only during the read of the provider.
func (r *content) Read(b []byte) (n int, err error) {
	c := r.call
	if r.src == nil || c.life.left.Load() {
		return 0, io.EOF
	}
	c.life.watch.Resume()
	n, err = r.src.Read(b)
	c.life.watch.Hold()
	r.note(b[:n])
	switch {
	case err == io.EOF:
		r.note(newline)
		c.result.noteFinished(token.Usage{}, token.Text{})
		c.end()
	case err != nil:
		_ = c.unread(err) // which sets the fault
	default:
		c.life.watch.Touch()
		return n, nil
	}
	r.src = nil
	return n, io.EOF
}

// note hands whole lines to who needs them.
func (r *content) note(read []byte) {
	receive := r.call.attempt.Object().Line
	if receive == nil {
		return
	}
	for line, rest, whole := bytes.Cut(read, newline); whole; line, rest, whole = bytes.Cut(read, newline) {
		if len(r.line) > 0 {
			line = append(r.line, line...)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			receive(line)
		}
		r.line, read = r.line[:0], rest
	}
	if len(r.line)+len(read) > maxResult {
		receive(nil)
		r.line, read = r.line[:0], nil
	}
	r.line = append(r.line, read...)
}

// Close ends the call.
func (r *content) Close() error {
	r.call.end()
	return nil
}
