package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// completionsFields are the members of a completions request.
var completionsFields = []string{
	"model", "prompt", "max_tokens", "temperature", "top_p", "n", "best_of", "stream",
	"stream_options", "stop", "suffix", "echo", "logprobs", "presence_penalty",
	"frequency_penalty", "logit_bias", "seed", "user",
}

// parseCompletions reads a completions request.
func parseCompletions(src *source, body []byte) (*ask, *refusal) {
	o := src.body(body)
	o.known(completionsFields...)
	q := &ask{format: translate.Completions}
	q.model = o.need("model")
	q.readPrompts(o)
	q.readSampling(o)
	q.limit = budget(o.integer("max_tokens", 0, -1))
	q.logprobs = o.integer("logprobs", 0, -1)
	if q.logprobs > 5 {
		o.fail("logprobs", "must be at most 5")
	}
	q.echo = o.flag("echo")
	o.text("suffix")
	if best := o.integer("best_of", 1, q.n); best < q.n {
		o.fail("best_of", "must be at least n")
	}
	return q, src.fault
}

// readPrompts reads the four forms of a prompt.
func (q *ask) readPrompts(o object) {
	raw := o.raw("prompt")
	var texts []string
	var list []int
	var lists [][]int
	switch {
	case raw == nil:
		o.src.fail("prompt", "required", "missing_required_parameter")
	case quoted(raw):
		texts = []string{o.text("prompt")}
	case json.Unmarshal(raw, &list) == nil && len(list) > 0:
		texts = []string{spell(list)}
	case json.Unmarshal(raw, &texts) == nil && len(texts) > 0:
	case json.Unmarshal(raw, &lists) == nil && len(lists) > 0:
		texts = nil // the failed attempt before may have left some
		for _, ids := range lists {
			texts = append(texts, spell(ids))
		}
	default:
		o.fail("prompt", "must be a string, an array of strings, or arrays of token ids")
	}
	q.prompts, q.messages = texts, len(texts)
	for _, text := range texts {
		q.text(text)
	}
}

// maxSamples and maxWords bound how long one answer can become.
const (
	maxSamples = 1024
	maxWords   = 100_000
)

// bound refuses to answer at a length that only an attacker would ask for.
func (q *ask) bound() *refusal {
	samples := len(q.prompts) * q.n
	if samples > maxSamples {
		return invalid("n", "too many choices for one request", "invalid_value")
	}
	if samples*q.orders.words > maxWords {
		return &refusal{status: http.StatusBadRequest, message: "unknown directive: too many words for one request"}
	}
	return nil
}

// spell stands in for the text of token ids, which only a true model knows.
func spell(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "<%d> ", id)
	}
	return b.String()
}

// parse reads the exchange's body in its format, with the orders in its prompt.
func parse(x *exchange) (*ask, *refusal) {
	src := newSource(x)
	var q *ask
	var refused *refusal
	switch x.route.format {
	case translate.Messages:
		q, refused = parseMessages(src, x.body, false)
	case translate.Chat:
		q, refused = parseChat(src, x.body)
	default:
		q, refused = parseCompletions(src, x.body)
	}
	if refused != nil {
		return nil, refused
	}
	if len(q.prompts) == 0 { // tool results alone, or a system text
		q.prompts = []string{""}
	}
	if refused = q.readDirectives(); refused != nil {
		return nil, refused
	}
	return q, q.bound()
}
