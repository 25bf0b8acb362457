package transport

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/passthrough"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The largest sizes of answers, in bytes after decoding.
const (
	maxAnswer      = 32 << 20
	maxErrorAnswer = 1 << 20
)

// answer reads a whole JSON answer. The client gets nothing of it before all of it was read
// and checked, so that another target can answer instead.
func (c *call) answer(res *http.Response) (*http.Response, error) {
	c.life.turnOver.Store(true)
	memory := exchange.NewLease()
	body, err := c.read(memory.Buffer(), res, maxAnswer)
	if err != nil {
		return nil, c.unread(err)
	}
	memory.Keep(body)
	var answer jsonAnswer
	if c.attempt.ByteLane() || c.attempt.Exchange.Request.Operation == translate.CountTokens {
		answer = inspected(c.attempt, body, c.result.Result)
	} else {
		read := memory
		memory = exchange.NewLease()
		if c.attempt.Exchange.Request.Operation.Embeds() {
			answer = embedded(c.attempt, body, memory.Buffer())
		} else {
			answer = translated(newTranslator(c.attempt, c.answerContext), body, memory.Buffer())
		}
		memory.Keep(answer.body)
		read.Release()
	}
	c.result.noteAnswer(answer.usage, answer.text, answer.model, answer.losses)
	if answer.relayed {
		c.result.noteErrorAnswer(res, c.attempt.Exchange.Objects.Hide(body), answer.fault, c.attempt)
	}
	if answer.fault != nil {
		return c.rejected(res, answer.fault), nil
	}
	if c.attempt.SealsObjects() {
		c.result.noteHeaders(c.result.hide.retryHeaders(res.Header))
		if read := c.attempt.Format.Objects.Headers; read != nil && c.attempt.Object() != nil {
			for name, value := range read(res.Header.Get, objectNames(c.attempt, c.result.Result)) {
				c.result.noteHeaders(http.Header{name: {value}})
			}
		}
	}
	c.result.Finish(answer.usage)
	c.result.EndedBy = answer.ended
	cached{c}.keep(false)
	c.end()
	length := int64(len(answer.body))
	if ex := c.attempt.Exchange; ex.Request.Streaming() && !ex.Request.Operation.Beside() {
		length = -1
	}
	return c.response(res, http.StatusOK, newLeased(answer.body, memory), length), nil
}

// leased is the body of an answer in leased memory, which Close releases.
type leased struct {
	bytes.Reader
	memory *exchange.Lease
}

func newLeased(body []byte, memory *exchange.Lease) *leased {
	l := &leased{memory: memory}
	l.Reset(body)
	return l
}

// Close ends the reading, since other answers use the memory afterwards.
func (l *leased) Close() error {
	l.Reset(nil)
	l.memory.Release()
	l.memory = nil
	return nil
}

// jsonAnswer is what was read of a whole JSON answer.
type jsonAnswer struct {
	body    []byte // for the client
	usage   token.Usage
	text    token.Text
	model   string
	ended   event.FinishReason
	losses  translate.Losses
	fault   *fault.Fault // why the client gets no answer; nil if it does
	relayed bool         // the client may read the provider's failure as it is
}

// inspected returns an answer in the client's format, or the count of tokens of a provider of
// another format. A JSON answer for a client that asked for a stream becomes one. r is the result of
// the call, which gets what the provider generates after the answer.
func inspected(a *exchange.Attempt, body []byte, r *exchange.Result) jsonAnswer {
	ex := a.Exchange
	if a.Object() != nil {
		return objectAnswer(a, body, r)
	}
	answer, fault := a.Format.Answers.Inspect(body, ex.Request.Operation)
	w := jsonAnswer{body: body, usage: answer.Usage, model: answer.Model, ended: answer.Ended}
	switch {
	case fault != nil:
		w.fault, w.relayed = stated(fault, body), answer.Failed && a.ByteLane() && !ex.Request.Streaming()
		return w
	case !a.ByteLane():
		w.body = ex.Request.Format.Answers.TokenCount(nil, answer.Usage.Input())
		return w
	}
	if fill := usageFiller(a); fill != nil {
		w.body = edit.Apply(nil, body, fill(nil, body))
	}
	if a.SealsObjects() {
		w.body = edit.Apply(nil, w.body, objectSealer(a, r)(nil, w.body))
	}
	w.text.Add(w.body) // its text is not read
	if ex.Request.Operation.Beside() {
		w.body = edit.Apply(nil, w.body, passthrough.FitVectors(ex.Request.Body, w.body))
		return w
	}
	if ex.Request.Streaming() {
		name := a.Format.Name
		whole := &translate.AnswerContext{Stream: true, IncludeUsage: ex.Request.View.StreamUsage.Asked}
		t := pairs.NewTranslator(name, name, whole, answerIDs(a))
		if fault := readAnswer(t, w.body); fault != nil {
			return jsonAnswer{fault: fault}
		}
		w.body = t.Output()
	}
	return w
}

// translated returns an answer in the client's format, which is a stream if the client asked
// for one. It writes the answer to memory, as far as that suffices.
func translated(t *pairs.Translator, body, memory []byte) jsonAnswer {
	t.Use(memory)
	fault := stated(readAnswer(t, body), body)
	return jsonAnswer{body: t.Output(), usage: t.Usage(), text: t.Text(), model: t.Model(), ended: t.Reason(), losses: t.Losses(), fault: fault}
}

// embedded returns the answer to a translated request for embeddings.
func embedded(a *exchange.Attempt, body, memory []byte) (w jsonAnswer) {
	answer, fault := a.Format.Answers.Inspect(body, a.Exchange.Request.Operation)
	if fault == nil {
		w.body, fault = a.Exchange.Request.Format.Embeddings.Answer(memory, body, a.Exchange.Request.Operation, answer.Usage)
	}
	w.usage, w.model, w.fault = answer.Usage, answer.Model, stated(fault, body)
	w.text.Add(w.body) // its text is not read
	return w
}

// stated returns f, the reason why a body could not be read as an answer, nil if it could. In place of a
// reason that is only that, it returns the error that the body contains, if there is one.
func stated(f *fault.Fault, body []byte) *fault.Fault {
	if f == nil || !f.IsUnusable() {
		return f
	}
	return cmp.Or(fault.Suspected(body), f)
}

// readAnswer reads a whole JSON answer. It returns why it is none, or not whole.
func readAnswer(t *pairs.Translator, body []byte) *fault.Fault {
	f := t.Answer(body)
	if f == nil && !t.Finished() {
		f = fault.Unusable(errNoEnd)
	}
	return f
}

var errNoEnd = errors.New("the answer has no end")

// newTranslator returns the translator of the answer to a translated request.
func newTranslator(a *exchange.Attempt, m *translate.AnswerContext) *pairs.Translator {
	return pairs.NewTranslator(a.Format.Name, a.Exchange.Request.Format.Name, m, answerIDs(a))
}

// answerIDs returns the ids of an answer that the gateway writes. The answer continues the
// events that the gateway has sent before it.
func answerIDs(a *exchange.Attempt) translate.IDs {
	ids := a.Exchange.AnswerIDs(a.Model)
	ids.Begun = a.Exchange.Opening.Continue
	return ids
}

// refused reads the provider's error answer, and ends the call.
func (c *call) refused(res *http.Response) (*http.Response, error) {
	body, err := c.read(nil, res, maxErrorAnswer)
	if err != nil && c.life.client.Err() != nil {
		return nil, c.unread(err)
	}
	body = c.attempt.Exchange.Objects.Hide(body)
	// If the body cannot be read, the fault is derived from the status.
	fault := fault.Read(res.StatusCode, res.Header.Get("Content-Type"), body)
	fault.Size(c.attempt.Exchange.Request.View.MaxTokens, c.generousPrompt)
	if !fault.Final {
		c.result.noteHeaders(c.result.hide.retryHeaders(res.Header))
	}
	foreign := c.t.service.protocol.ForeignError
	if c.attempt.ByteLane() && (foreign == nil || !foreign(c.attempt.Format.Name, body)) && c.attempt.Format.Errors.Relayable(res.StatusCode, body) {
		c.result.noteErrorAnswer(res, body, fault, c.attempt)
	}
	return c.failed(res, res.StatusCode, fault), nil
}

// generousPrompt returns an estimate of the tokens of the request that is rarely too low: a
// client that asks again by too low a number is refused again.
func (c *call) generousPrompt() int64 {
	ex := c.attempt.Exchange
	estimate := ex.Request.Format.Requests.Measure(ex.Request.Body).Tokens(c.attempt.BytesPerToken)
	return estimate + estimate/4
}

// read reads a body to its end and decodes it, within limit and IdleTimeout. It writes the
// body to memory, as far as that suffices.
func (c *call) read(memory []byte, res *http.Response, limit int64) ([]byte, error) {
	c.life.watch.Enter(watch.Rest(time.Duration(c.t.IdleTimeout)))
	return readBody(memory, res, &touching{src: res.Body, watch: &c.life.watch}, limit)
}

// readBody reads src, the body of res, to its end and decodes it, within limit. It writes the
// body to memory, as far as that suffices.
func readBody(memory []byte, res *http.Response, src io.Reader, limit int64) ([]byte, error) {
	name, err := coding.Name(res.Header["Content-Encoding"])
	if err != nil {
		return nil, err
	}
	if name != "" {
		return coding.Decode(name, src, limit)
	}
	return coding.ReadAll(memory, src, res.ContentLength, limit)
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
