package transport

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// reader is shown the bytes of an answer that is passed on as it is.
type reader interface {
	// read gets the next bytes. It keeps none of them.
	read(part []byte)
	// end returns what the whole answer has used.
	end() (token.Usage, token.Text)
}

// pass returns a response with the provider's bytes as they arrive, for an answer that is neither JSON nor
// a stream of events.
func (c *call) pass(res *http.Response, observer reader) (*http.Response, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil {
		return nil, c.unread(err)
	}
	src, length := io.Reader(res.Body), res.ContentLength
	if name != "" {
		if src, err = coding.NewReader(name, res.Body); err != nil {
			return nil, c.unread(fmt.Errorf("decoding answer: %w", err))
		}
		length = -1
	}
	c.result.State, c.result.Times.Began = exchange.Content, time.Now()
	c.life.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	if o := c.attempt.Object(); o != nil && c.attempt.Traits.SealsFiles() {
		buffered := bufio.NewReader(&touching{src: src, watch: &c.life.watch})
		switch src = buffered; {
		case o.Results:
			src, length = newResults(buffered, objectSealer(c.attempt, c.result.Result)), -1
		case c.attempt.Format.Objects.ByMembers && isBatchOutput(buffered):
			src, length = newResults(buffered, outputSealer(c.attempt)), -1
		}
	}
	c.life.watch.Hold() // until the first Read
	return c.response(res, http.StatusOK, &passing{call: c, src: src, observer: observer}, length), nil
}

// passing is the body of an answer that is passed on as it is. Read always ends with io.EOF;
// the result of the call has the state in which the answer ended.
type passing struct {
	call     *call
	src      io.Reader // nil when nothing more is read
	observer reader
}

// Read returns the next bytes. The watch runs only during the read of the provider.
func (p *passing) Read(b []byte) (n int, err error) {
	c := p.call
	if p.src == nil || c.life.left.Load() {
		return 0, io.EOF
	}
	c.life.watch.Resume()
	n, err = p.src.Read(b)
	c.life.watch.Hold()
	p.observer.read(b[:n])
	switch {
	case err == io.EOF:
		usage, text := p.observer.end()
		c.result.Finish(usage)
		c.result.Text = text
		c.end()
	case err != nil:
		_ = c.unread(err) // which sets the fault
	default:
		c.life.watch.Touch()
		return n, nil
	}
	p.src = nil
	return n, io.EOF
}

// Close ends the call.
func (p *passing) Close() error {
	p.call.end()
	return nil
}

// measured is an answer such as speech or subtitles: no more than its length is known of its usage.
type measured struct {
	ex   *exchange.Exchange
	text token.Text
	last tail
}

func (r *measured) read(part []byte) {
	r.text.Add(part)
	r.last.add(part)
}

func (r *measured) end() (token.Usage, token.Text) {
	return token.Usage{Units: passthrough.UnitsOfText(r.last, r.ex.Request.Operation, r.ex.Request.View.Costs.Units)}, r.text
}

// tail is the end of an answer, which may show the length of a recording.
type tail []byte

// add adds bytes, and drops what is before the end.
func (t *tail) add(read []byte) {
	const limit = passthrough.MostSubtitles
	end := *t
	if excess := len(end) + len(read) - limit; excess > 0 {
		end = append(end[:0], end[min(excess, len(end)):]...)
	}
	*t = append(end, read[max(0, len(read)-limit):]...)
}
