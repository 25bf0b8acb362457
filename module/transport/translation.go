package transport

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// translator returns the translator of the answer.
func (c *call) translator() *pairs.Translator {
	return pairs.NewTranslator(c.attempt.Format.Name, c.attempt.Exchange.Format.Name, &c.answerContext, c.ids())
}

func (c *call) ids() translate.IDs {
	ids := c.attempt.Exchange.AnswerIDs(c.attempt.Model)
	ids.Begun = c.attempt.Exchange.Opening.Continue
	return ids
}

// translateAnswer translates a whole JSON answer into a JSON answer of the client's format,
// or into a stream if the client asked for one.
func (c *call) translateAnswer(res *http.Response, body []byte) (*http.Response, error) {
	t := c.translator()
	fault := readAnswer(t, body)
	c.result.noteAnswer(t.Usage(), t.Text(), t.Model(), t.Losses())
	if fault != nil {
		return c.rejected(res, fault), nil
	}
	c.result.noteFinished(t.Usage(), t.Text())
	c.end()
	out := bytes.Clone(t.Output())
	length := int64(len(out))
	if c.attempt.Exchange.Streaming() {
		length = -1
	}
	return c.response(res, http.StatusOK, io.NopCloser(bytes.NewReader(out)), length), nil
}

// translateCount returns the provider's count of tokens in the client's format.
func (c *call) translateCount(res *http.Response, body []byte) (*http.Response, error) {
	answer, fault := c.inspect(body)
	if fault != nil {
		return c.rejected(res, fault), nil
	}
	c.result.noteAnswer(answer.Usage, token.Text{}, answer.Model, nil)
	c.result.noteFinished(answer.Usage, token.Text{})
	c.end()
	out := c.attempt.Exchange.Format.Answers.TokenCount(nil, answer.Usage.Input())
	return c.response(res, http.StatusOK, io.NopCloser(bytes.NewReader(out)), int64(len(out))), nil
}

// readAnswer reads a whole JSON answer.
func readAnswer(t *pairs.Translator, body []byte) *fault.Fault {
	f := t.Answer(body)
	if f == nil && !t.Finished() {
		f = fault.Unusable(errNoEnd)
	}
	return f
}

var errNoEnd = errors.New("the answer has no end")

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
)

// contentType returns the content type of the answer to the client. It is the type that the
// provider sent if the answer is relayed unchanged and the type fits. Official SDKs read
// JSON with another type, or without one, as plain text.
func (c *call) contentType(res *http.Response) string {
	own, standard := exchange.IsJSON(res.Header.Get("Content-Type")), typeJSON
	if c.attempt.Exchange.Streaming() {
		own, standard = hasStreamType(res), typeStream
	}
	if !c.attempt.ByteLane() || !own {
		return standard
	}
	return cmp.Or(c.result.hide.contentType(res), standard)
}

// translation is the lane of a stream for a client of another format.
type translation struct {
	*pairs.Translator
	events
}

// relaysErrors returns false, because the client cannot read the error event.
func (t *translation) relaysErrors() bool { return false }

func (t *translation) continuation() format.Continuation { return t.Continuation() }

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

func (t *translation) end(eof bool, ready *bytes.Buffer) {
	if eof {
		if event, ok := t.lexer.Close(); ok {
			t.event(event, ready)
		}
	}
	if t.sum&lastSignals == 0 {
		t.End(eof)
		ready.Write(t.Output())
	}
	if t.Finished() {
		t.add(signal.Terminal)
	}
}
