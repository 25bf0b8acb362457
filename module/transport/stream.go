package transport

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// stream reads an event stream up to its first event with content, and returns a response
// with the whole stream. After a failure before that event, another target can be asked, and
// the client can get an error status.
func (c *call) stream(res *http.Response) (*http.Response, error) {
	c.watch.Enter(watch.FirstEvent(time.Duration(c.t.FirstEventTimeout)))
	src, err := c.decoded(res)
	if err != nil {
		return c.unread(res, err)
	}
	r := &relay{call: c, src: src, upstream: res.Body, lane: c.lane(), gaps: metrics.EventGaps(c.attempt.Provider)}
	err = r.prime()
	r.noteAnswer() // a failed attempt may have used tokens, too
	if err != nil {
		return c.unread(res, err)
	}
	if fault := c.result.Fault; fault != nil && !r.begun() { // the first event was an error, or none came
		return c.rejected(res, fault), nil
	}
	c.result.Began = time.Now()
	if r.lane.continuation() != nil {
		c.result.Appender = r
	}
	c.watch.Hold() // until the first Read
	return c.response(res, http.StatusOK, r, -1), nil
}

// lane returns the lane of the stream.
func (c *call) lane() lane {
	if !c.attempt.ByteLane() {
		return &translation{c.translator(), c.events()}
	}
	return &byteLane{
		Observer:  c.attempt.Format.Answers.NewObserver(),
		usage:     c.usageEditor(),
		events:    c.events(),
		format:    c.attempt.Format,
		withhold:  asksUsage(c.attempt),
		isPrivate: c.result.hide.isPrivate,
		onFinish:  c.t.StreamEnd == aigateway.StreamEndFinish,
	}
}

func (c *call) events() events { return events{lexer: sse.NewLexer(int(c.t.MaxEventBytes))} }

// decoded returns a reader of the body without its content coding.
func (c *call) decoded(res *http.Response) (io.Reader, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil {
		return nil, err
	}
	if name == "" {
		return res.Body, nil
	}
	src, err := coding.NewReader(name, res.Body)
	if err != nil {
		return nil, fmt.Errorf("decoding stream: %w", err)
	}
	return src, nil
}
