package doctor

import (
	"context"
	"net/http"
	"regexp"
	"strings"
)

// probe is a test of one feature of a model.
type probe struct {
	name      string
	essential bool // the other probes cannot succeed if this one fails
	test      func(*exam)
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
	{"error", false, (*exam).invalid},
	{"count", false, (*exam).count},
}

// exam is a probe of a model in one format.
type exam struct {
	ctx     context.Context
	gateway Gateway
	format  format
	model   string
	bytes   bool // requests are not translated, so that traits have no effect
	*Result
}

// run runs a probe. If requests are not translated, and the provider demands another
// name of max_tokens, the probe and all later ones use that name.
func (e *exam) run(p probe) Result {
	for {
		e.Result = &Result{Model: e.model, Format: e.format.name, Probe: p.name}
		p.test(e)
		if !e.bytes || e.format.limit == longLimit || !strings.Contains(e.Reason, longLimit) {
			return *e.Result
		}
		e.format.limit = longLimit
	}
}

// longLimit is the name of max_tokens in chat requests for reasoning models.
const longLimit = "max_completion_tokens"

// post sends a request of the format.
func (e *exam) post(path string, request map[string]any) (reply, error) {
	if e.format.own.address != nil {
		path, request = e.format.own.address(path, request)
	}
	return e.gateway.post(e.ctx, path, request)
}

// ask sends a request. If the gateway does not answer it, ask reports false, and the
// probe fails.
func (e *exam) ask(request map[string]any) (answer, bool) {
	got, err := e.post(e.format.path, request)
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

// refused fails the probe with an error answer. If no remedy is known, and the status is 4xx
// or the message contains the reason, the feature counts as unsupported: local servers
// refuse images with 500. Exceptions are the probe "text", which every model must support
// unless its format is optional, and status 429, which does not depend on the feature.
func (e *exam) refused(got reply) {
	e.broken(got.refusal())
	refused := got.status >= 400 && got.status < 500 && got.status != http.StatusTooManyRequests
	if e.State == Broken && e.Advice == "" && (e.Probe != "text" || e.format.optional) && (refused || notSupported.MatchString(e.Reason)) {
		e.State = Unsupported
	}
}

// notSupported matches messages about features that a model or a server does not have.
var notSupported = regexp.MustCompile(`(?i)not support|unsupported`)

// blockedBy matches the guard and the rule in a message of the gateway.
var blockedBy = regexp.MustCompile(`blocked by the guard '[^']+', rule '[^']+'`)

// broken fails the probe. What a guard blocks is as the configuration demands.
func (e *exam) broken(reason string) {
	if guard := blockedBy.FindString(reason); guard != "" {
		e.State, e.Reason = Blocked, guard
		return
	}
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

func (e *exam) system() { e.plain(e.format.changes.system) }

func (e *exam) sampling() {
	e.plain(func(request map[string]any) { request["temperature"], request["top_p"] = 0.5, 0.9 })
}

// turns sends two successive turns of the user, as agents do.
func (e *exam) turns() {
	e.plain(func(request map[string]any) {
		request[e.format.turns] = append([]any{e.format.turn("I am here.")}, request[e.format.turns].([]any)...)
	})
}

// plain asks for a text, with a change of the request.
func (e *exam) plain(c change) {
	if _, ok := e.ask(e.format.request(e.model, prompt, c)); ok {
		e.works()
	}
}

func (e *exam) stream() {
	got, err := e.post(e.format.path, e.format.request(e.model, prompt, e.format.changes.streaming))
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
	case s.usage.Input == 0 && e.format.begins:
		e.broken("the stream has no input tokens")
	case s.usage.Input == 0 || s.usage.Output == 0:
		e.State, e.Reason = Unsupported, "the stream has no usage: limits and costs are estimated"
	default:
		e.works()
	}
}

// tools demands a tool call, and sends a result of the tool.
func (e *exam) tools() {
	request := e.format.request(e.model, "What is the weather in Bern?", e.format.changes.tools)
	a, ok := e.ask(request)
	if !ok {
		return
	}
	if a.callID == "" {
		e.broken("the answer has no tool call, although the request demands one")
		return
	}
	if _, ok := e.ask(e.format.withResult(request, a)); ok {
		e.works()
	}
}

func (e *exam) image() {
	if _, ok := e.ask(e.format.request(e.model, "Which colour is it?", e.format.changes.image)); ok {
		e.works()
	}
}

// invalid sends a request without a conversation, which must be refused.
func (e *exam) invalid() {
	got, err := e.post(e.format.path, map[string]any{"model": e.model, e.format.limit: 1})
	switch {
	case err != nil:
		e.broken(err.Error())
	case got.status < 400 || got.status >= 500 || got.message() == "":
		e.broken("a request without a conversation is not refused with an error in the format")
	default:
		e.works()
	}
}

func (e *exam) count() {
	request := e.format.request(e.model, "hello", nil)
	delete(request, e.format.limit)
	got, err := e.post(e.format.countPath, request)
	switch {
	case err != nil:
		e.broken(err.Error())
	case got.status != http.StatusOK:
		e.refused(got)
	default:
		e.works()
	}
}
