package transport

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// info is what conversions need to know beside the body.
func (c *call) info() *translate.RequestInfo {
	a := c.attempt
	return &translate.RequestInfo{Model: a.Exchange.View.Model, Upstream: a.Model, Traits: c.traits(), BytesPerToken: a.BytesPerToken}
}

// translate renders the client's request in the provider's format. A fault
// means that this target cannot be asked in any faithful way.
func (c *call) translate() *translate.Fault {
	r, fault := c.renderPrompt(0)
	switch {
	case fault != nil:
		return fault
	case r.Calls() > 1:
		return c.split(r.Prompts, r.Samples)
	default:
		return nil
	}
}

// renderPrompt renders the request with one of its prompts.
func (c *call) renderPrompt(n int) (translate.Rendered, *translate.Fault) {
	a := c.attempt
	info := c.info()
	info.Prompt = n
	lease := exchange.NewLease()
	body, r, fault := pairs.Render(lease.Buffer(), a.Exchange.Format.Name, a.Format.Name, a.Exchange.Body, info)
	lease.Keep(body)
	if fault == nil {
		fault = c.refuseShaping(info, r.Losses)
	}
	if fault != nil {
		lease.Release()
		return r, fault
	}
	c.rendered = &payload{parts: [][]byte{body}, length: int64(len(body)), lease: lease}
	c.memory, c.result.Losses = r.Memory, r.Losses
	c.memory.MaxHeld = int(c.t.MaxEventBytes)
	return r, nil
}

// traits say what the target can take.
func (c *call) traits() *translate.Traits {
	if c.attempt.Traits != nil {
		return c.attempt.Traits
	}
	return &c.t.standard
}

// refuseShaping refuses a request of which something would be lost that shapes
// the answer, where the model or the client wants that.
func (c *call) refuseShaping(info *translate.RequestInfo, losses translate.Losses) *translate.Fault {
	strict := c.attempt.Exchange.Strict
	if !strict && !c.traits().RejectLosses {
		return nil
	}
	for _, loss := range losses {
		if loss.Class == translate.Shaping {
			return info.RefuseLoss(c.attempt.Format.Name, loss.Path, strict)
		}
	}
	return nil
}

// translator returns the way back of this call.
func (c *call) translator() *pairs.Translator {
	return pairs.NewTranslator(c.attempt.Format.Name, c.attempt.Exchange.Format.Name, &c.memory, c.ids())
}

func (c *call) ids() translate.IDs {
	client := &c.attempt.Exchange.Format.Client
	return translate.IDs{
		Message:   exchange.NewID(client.AnswerID),
		Created:   time.Now().Unix(),
		Model:     c.attempt.Model,
		NewToolID: func() string { return exchange.NewID(client.CallID) },
	}
}

// translateAnswer writes a whole JSON answer for the client: as one, or, where
// the client wants a stream, as the stream that the answer would have been.
func (c *call) translateAnswer(res *http.Response, body []byte) (*http.Response, error) {
	t := c.translator()
	fault := readAnswer(t, body)
	c.result.Usage, c.result.AnsweredBy = t.Usage(), c.presentable(t.Model())
	c.result.Dropped = c.presentableLosses(t.Losses())
	if fault != nil {
		return c.failed(res, c.attempt.Format.Errors.Status(fault), fault), nil
	}
	c.result.Finish(t.Usage())
	c.end()
	out := bytes.Clone(t.Output())
	length := int64(len(out))
	if c.attempt.Exchange.Streaming() {
		length = -1
	}
	return c.response(res, http.StatusOK, io.NopCloser(bytes.NewReader(out)), length), nil
}

// readAnswer reads a whole JSON answer.
func readAnswer(t *pairs.Translator, body []byte) *translate.Fault {
	fault := t.Answer(body)
	if fault == nil && !t.Finished() {
		fault = translate.Unusable(errNoEnd)
	}
	return fault
}

var errNoEnd = errors.New("the answer has no end")

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
)

// contentType returns the content type of the answer to the client: the
// provider's own if the answer goes on as it is and the header says what it is.
// Official SDKs take JSON of another type, or of none, for a text.
func (c *call) contentType(res *http.Response) string {
	own, standard := exchange.IsJSON(res.Header.Get("Content-Type")), typeJSON
	if c.attempt.Exchange.Streaming() {
		own, standard = isEventStream(res), typeStream
	}
	if !c.attempt.ByteLane() || !own {
		return standard
	}
	return cmp.Or(c.presentableType(res), standard)
}

// translation is the lane of a stream that the client reads in another format.
type translation struct {
	*pairs.Translator
	events
}

// relaysErrors: a provider's error ends the stream as a fault of the gateway's
// own does.
func (t *translation) relaysErrors() bool { return false }

func (t *translation) restore([]byte) int { return 0 }

func (t *translation) take(p []byte, _ int, ready *bytes.Buffer) int {
	t.lexer.Feed(p)
	for t.sum&lastSignals == 0 {
		event, ok := t.lexer.Next()
		if !ok {
			break
		}
		t.event(event, ready)
	}
	return 0
}

func (t *translation) event(event sse.Event, ready *bytes.Buffer) {
	t.note(event, t.Event(event))
	ready.Write(t.Output())
}

func (t *translation) end(orderly bool, ready *bytes.Buffer) {
	if orderly {
		if event, ok := t.lexer.Close(); ok {
			t.event(event, ready)
		}
	}
	if t.sum&lastSignals == 0 {
		t.End(orderly)
		ready.Write(t.Output())
	}
	if t.Finished() {
		t.add(translate.Terminal)
	}
}
