package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

type readCloser = io.ReadCloser

// The largest sizes of answers, in bytes after decoding.
const (
	maxAnswer      = 32 << 20
	maxErrorAnswer = 1 << 20
)

func hasStreamType(res *http.Response) bool {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && media == "text/event-stream"
}

// isStream reports whether the answer to a request for a stream is one: by its content type,
// or by its first bytes, since some servers send streams with another type, which the SDKs
// do not check. isStream waits for these bytes, and they remain in the body.
func (c *call) isStream(res *http.Response) bool {
	switch {
	case !c.attempt.Exchange.Streaming():
		return false
	case hasStreamType(res):
		return true
	case len(res.Header["Content-Encoding"]) > 0:
		return false
	}
	c.watch.Enter(watch.FirstEvent(time.Duration(c.t.FirstEventTimeout)))
	body := bufio.NewReaderSize(res.Body, maxSniffed)
	res.Body = &sniffed{body, res.Body}
	for n := 1; ; n++ {
		head, err := body.Peek(n)
		if stream, known := sse.Sniff(head); known || err != nil {
			return stream
		}
	}
}

// maxSniffed is the largest number of bytes that decide whether an answer is a stream.
const maxSniffed = 64

// sniffed is a body of which some bytes were read.
type sniffed struct {
	io.Reader
	io.Closer
}

// answer reads a whole JSON answer. The client gets nothing of it before all of it was read
// and checked, so that another target can answer instead.
func (c *call) answer(res *http.Response) (*http.Response, error) {
	c.turnOver.Store(true)
	body, err := c.read(res, maxAnswer)
	if err != nil {
		return c.unread(res, err)
	}
	switch {
	case c.attempt.ByteLane():
	case c.attempt.Exchange.Operation == translate.CountTokens:
		return c.translateCount(res, body)
	default:
		return c.translateAnswer(res, body)
	}
	answer, fault := c.inspect(body)
	if fill := c.usageFiller(); fault == nil && fill != nil {
		body = edit.Apply(nil, body, fill(nil, body))
	}
	var text token.Text
	text.Add(body) // its text is not read
	length := int64(len(body))
	if fault == nil && c.attempt.Exchange.Streaming() { // the client asked for a stream, so the answer becomes one
		body, fault = c.streamOf(body)
		length = -1
	}
	if answer.Failed && !c.attempt.Exchange.Streaming() {
		c.result.noteErrorAnswer(res, body, fault, c.attempt)
	}
	if fault != nil {
		return c.rejected(res, fault), nil
	}
	c.result.noteAnswer(answer.Usage, text, answer.Model, nil)
	c.result.noteFinished(answer.Usage, text)
	c.end()
	return c.response(res, res.StatusCode, io.NopCloser(bytes.NewReader(body)), length), nil
}

// streamOf returns a JSON answer as a stream of the same format.
func (c *call) streamOf(answer []byte) ([]byte, *fault.Fault) {
	name := c.attempt.Format.Name
	m := translate.AnswerContext{Stream: true, IncludeUsage: c.attempt.Exchange.View.StreamUsage.Asked}
	t := pairs.NewTranslator(name, name, &m, c.ids())
	if fault := readAnswer(t, answer); fault != nil {
		return nil, fault
	}
	return t.Output(), nil
}

func (c *call) inspect(body []byte) (signal.Answer, *fault.Fault) {
	return c.attempt.Format.Answers.Inspect(body, c.attempt.Exchange.Operation)
}

// rejected ends a call whose answer with status 200 is not an answer of the format.
func (c *call) rejected(res *http.Response, fault *fault.Fault) *http.Response {
	return c.failed(res, c.attempt.Format.Errors.Status(fault), c.result.hide.typed(res, fault))
}

// refused reads the provider's error answer, and ends the call.
func (c *call) refused(res *http.Response) (*http.Response, error) {
	body, err := c.read(res, maxErrorAnswer)
	if err != nil && c.client.Err() != nil {
		return c.unread(res, err)
	}
	// If the body cannot be read, the fault is derived from the status.
	fault := fault.Read(res.StatusCode, res.Header.Get("Content-Type"), body)
	if !fault.Final {
		c.result.noteHeaders(c.result.hide.retryHeaders(res.Header))
	}
	if c.attempt.ByteLane() && c.attempt.Format.Errors.Relayable(res.StatusCode, body) {
		c.result.noteErrorAnswer(res, body, fault, c.attempt)
	}
	return c.failed(res, res.StatusCode, fault), nil
}

// read reads a body to its end and decodes it, within limit and IdleTimeout.
func (c *call) read(res *http.Response, limit int64) ([]byte, error) {
	c.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	return readBody(res, &touching{src: res.Body, watch: &c.watch}, limit)
}

// readBody reads src, the body of res, to its end and decodes it, within limit.
func readBody(res *http.Response, src io.Reader, limit int64) ([]byte, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil {
		return nil, err
	}
	if name != "" {
		return coding.Decode(name, src, limit)
	}
	return coding.ReadAll(nil, src, res.ContentLength, limit)
}

// unread ends a call whose answer could not be read to its end.
func (c *call) unread(res *http.Response, err error) (*http.Response, error) {
	_ = res.Body.Close()
	return nil, c.fail(fmt.Errorf("reading answer: %w", err))
}

// touching is a reader that calls Touch of a watch after every read with bytes.
type touching struct {
	src   io.Reader
	watch *watch.Watch
}

func (t *touching) Read(p []byte) (int, error) {
	n, err := t.src.Read(p)
	if n > 0 {
		t.watch.Touch()
	}
	return n, err
}
