package transport

import (
	"bufio"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// isStream reports whether the answer to a request for a stream is one: by its content type,
// or by its first bytes, since some servers send streams with another type, which the SDKs
// do not check. isStream waits for these bytes, and they remain in the body.
func (c *call) isStream(res *http.Response) bool {
	switch {
	case !c.attempt.Exchange.Request.Streaming():
		return false
	case hasStreamType(res):
		return true
	case len(res.Header["Content-Encoding"]) > 0:
		return false
	}
	c.life.watch.Enter(watch.FirstEvent(time.Duration(c.t.FirstEventTimeout)))
	body := bufio.NewReaderSize(res.Body, maxSniffed)
	res.Body = &sniffed{body, res.Body}
	for n := 1; ; n++ {
		head, err := body.Peek(n)
		if stream, known := sse.Sniff(head); known || err != nil {
			return stream
		}
	}
}

func hasStreamType(res *http.Response) bool {
	return exchange.IsEventStream(res.Header.Get("Content-Type"))
}

// maxSniffed is the largest number of bytes that decide whether an answer is a stream.
const maxSniffed = 64

// sniffed is a body of which some bytes were read.
type sniffed struct {
	io.Reader
	io.Closer
}

// stream reads an event stream up to its first event with content, and returns a response
// with the whole stream. After a failure before that event, another target can be asked, and
// the client can get an error status.
func (c *call) stream(res *http.Response) (*http.Response, error) {
	src, err := c.events(res)
	if err != nil {
		return nil, c.unread(err)
	}
	r := &relay{call: c, src: src, lane: c.lane(), gaps: metrics.EventGaps(c.attempt.Provider)}
	r.alone = src == res.Body && res.ProtoMajor == 1 && c.life.conn.Reader() != nil // a decoder, and a connection of HTTP/2, read in goroutines of their own
	err = r.prime()
	r.noteAnswer() // a failed attempt may have used tokens, too
	if err != nil {
		return nil, c.unread(err)
	}
	if fault := c.result.Fault; fault != nil && !r.begun() { // the first event was an error, or none came
		return c.rejected(res, fault), nil
	}
	if !c.result.Reading.Cached {
		c.result.Times.Began = time.Now()
	}
	if r.lane.continuation() != nil {
		c.result.Lane.Appender = r
	}
	c.life.watch.Hold() // until the first Read
	return c.response(res, http.StatusOK, r, -1), nil
}

// events begins the wait for the first event of a stream. It returns a reader of the body
// without its content coding.
func (c *call) events(res *http.Response) (io.Reader, error) {
	c.life.watch.Enter(watch.FirstEvent(time.Duration(c.t.FirstEventTimeout)))
	return decoded(res)
}

// lane returns the lane of the stream.
func (c *call) lane() lane {
	a, events := c.attempt, newEvents(c.t)
	if !a.ByteLane() {
		return &translation{newTranslator(a, c.answerContext), events}
	}
	newObserver, onFinish := observerOf(a, c.t)
	l := &byteLane{
		Observer: newObserver(),
		events:   events,
		format:   a.Format,
		withhold: asksUsage(a),
		usage:    usageFiller(a),
		hide:     c.result.hide,
		onFinish: onFinish,
	}
	if l.withhold {
		l.usage = a.Format.Answers.Usage.Cut
	}
	if a.SealsObjects() {
		l.objects = objectSealer(a, c.result.Result)
	}
	return l
}

// observerOf returns how a stream in the client's format is observed. onFinish reports that it is whole
// when its choices have finished and its body ends.
func observerOf(a *exchange.Attempt, t *Transport) (newObserver func() signal.Observer, onFinish bool) {
	if a.Exchange.Request.Operation.Beside() { // whose streams end with their bodies
		return passthrough.NewObserver, true
	}
	return a.Format.Answers.NewObserver, t.StreamEnd == aigateway.StreamEndFinish || a.Format.Answers.NoLastEvent
}

// usageFiller returns the editor that fills in fields of usage that the provider leaves out,
// nil unless the target has the trait for that.
func usageFiller(a *exchange.Attempt) editor {
	if a.Traits.FillUsageDetails {
		return a.Format.Answers.Usage.Fill
	}
	return nil
}
