package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// probe is one question about a model.
type probe struct {
	name      string
	essential bool // without it, the other probes show nothing
	run       func(*exam)
}

// prompt is the prompt of most probes.
const prompt = "Answer with one word: hello"

var probes = []probe{
	{"text", true, (*exam).text},
	{"stream", false, (*exam).stream},
	{"system", false, (*exam).system},
	{"sampling", false, (*exam).sampling},
	{"turns", false, (*exam).turns},
	{"tools", false, (*exam).tools},
	{"image", false, (*exam).image},
	{"error", false, (*exam).mistake},
	{"count", false, (*exam).count},
}

// exam is a probe of a model in one format.
type exam struct {
	ctx     context.Context
	gateway Gateway
	format  format
	model   string
	bytes   bool // the provider gets the requests as they are: no trait applies
	*Result
}

// take runs a probe. If the provider gets the client's own request, and wants another name
// of max_tokens in it, the probe runs again with that.
func (e *exam) take(p probe) Result {
	for {
		e.Result = &Result{Model: e.model, Format: e.format.name, Probe: p.name}
		p.run(e)
		if !e.bytes || e.format.limit == longLimit || !strings.Contains(e.Reason, longLimit) {
			return *e.Result
		}
		e.format.limit = longLimit
	}
}

// longLimit is the name of max_tokens for models that think, in chat.
const longLimit = "max_completion_tokens"

// ask sends a request, and fails the probe if it is not answered.
func (e *exam) ask(request any) (answer, bool) {
	got, err := e.gateway.post(e.ctx, e.format.path, request)
	if err != nil {
		e.broken(err.Error())
		return answer{}, false
	}
	if got.status != http.StatusOK {
		e.refused(got)
		return answer{}, false
	}
	a, err := e.format.parse(got.body)
	if err != nil {
		e.broken(err.Error())
		return answer{}, false
	}
	e.add(a.usage)
	return a, true
}

// refused fails the probe with the error of an answer.
func (e *exam) refused(got reply) {
	e.broken(fmt.Sprintf("%d: %s", got.status, got.message()))
	if e.Advice == "" && e.Probe != "text" && got.status >= 400 && got.status < 500 && got.status != http.StatusTooManyRequests {
		e.State = Unsupported
	}
}

func (e *exam) broken(reason string) {
	e.State, e.Reason, e.Advice = Broken, reason, adviceFor(reason, e.bytes)
}

func (e *exam) works() { e.State = Works }

func (e *exam) text() {
	a, ok := e.ask(e.format.request(e.model, prompt, nil))
	if !ok {
		return
	}
	switch {
	case a.text == "" && !a.cut:
		e.broken("the answer has no text")
	case a.usage.Input == 0 || a.usage.Output == 0:
		e.State, e.Reason = Unsupported, "the answer has no usage: limits and costs are estimated"
	default:
		e.works()
	}
}

func (e *exam) system() { e.plain(e.format.system) }

func (e *exam) sampling() {
	e.plain(func(request map[string]any) { request["temperature"], request["top_p"] = 0.5, 0.9 })
}

// turns sends two turns of the user in a row, as agents do.
func (e *exam) turns() {
	e.plain(func(request map[string]any) {
		request["messages"] = append([]any{map[string]any{"role": "user", "content": "I am here."}}, request["messages"].([]any)...)
	})
}

// plain asks for a text by a changed request.
func (e *exam) plain(c change) {
	if _, ok := e.ask(e.format.request(e.model, prompt, c)); ok {
		e.works()
	}
}

func (e *exam) stream() {
	got, err := e.gateway.post(e.ctx, e.format.path, e.format.request(e.model, prompt, e.format.streaming))
	if err != nil {
		e.broken(err.Error())
		return
	}
	if got.status != http.StatusOK {
		e.refused(got)
		return
	}
	s := e.format.parseStream(got.body)
	e.add(s.usage)
	switch {
	case s.failure != "":
		e.broken(s.failure)
	case !s.complete:
		e.broken("the stream has no end")
	case s.usage.Input == 0:
		e.broken("the stream has no input tokens")
	case s.usage.Output == 0:
		e.State, e.Reason = Unsupported, "the stream has no output tokens: limits and costs are estimated"
	default:
		e.works()
	}
}

// tools asks for a call of a tool, and sends its result back.
func (e *exam) tools() {
	request := e.format.request(e.model, "What is the weather in Bern?", e.format.tools)
	a, ok := e.ask(request)
	if !ok {
		return
	}
	if a.callID == "" {
		e.broken("the answer has no call, though the request demands one")
		return
	}
	if _, ok := e.ask(e.format.withResult(request, a)); ok {
		e.works()
	}
}

func (e *exam) image() {
	if _, ok := e.ask(e.format.request(e.model, "Which colour is it?", e.format.image)); ok {
		e.works()
	}
}

// errNoMistake is the reason of a gateway that takes a request which is none.
var errNoMistake = errors.New("a request without a conversation is not refused with an error of the format")

func (e *exam) mistake() {
	got, err := e.gateway.post(e.ctx, e.format.path, map[string]any{"model": e.model, e.format.limit: 1})
	switch {
	case err != nil:
		e.broken(err.Error())
	case got.status < 400 || got.status >= 500 || got.message() == "":
		e.broken(errNoMistake.Error())
	default:
		e.works()
	}
}

func (e *exam) count() {
	request := e.format.request(e.model, "hello", nil)
	delete(request, e.format.limit)
	got, err := e.gateway.post(e.ctx, e.format.countPath, request)
	switch {
	case err != nil:
		e.broken(err.Error())
	case got.status != http.StatusOK:
		e.refused(got)
	default:
		e.works()
	}
}
