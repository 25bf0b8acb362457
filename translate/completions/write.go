package completions

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// RequestTarget writes completions requests.
var RequestTarget = core.Target{Format: translate.Completions, Outcomes: &outcomes, New: func() core.Writer { return new(writer) }}

// writer writes a completions request: the conversation becomes one prompt, which
// the provider continues. The prompt gathers in a buffer of its own, since a body
// may have its members in any order.
type writer struct {
	core.Discard
	x      *core.Translation
	out    []byte
	prompt prompt
	role   core.Role // of the turn

	scratch []byte
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation) {
	w.x = x
	w.prompt.reset(templates[x.Traits.PromptTemplate])
}

// Forget lets go of the body.
func (w *writer) Forget() (kept int) {
	w.x, w.out = nil, nil
	return w.prompt.size() + cap(w.scratch)
}

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	w.out = dst
	w.askForObject()
	w.writePrompt()
	w.writeMaxTokens()
	w.writeSampling()
	w.writeSamples()
	w.writeStops()
	w.writeStream()
	w.writeLogprobs()
	w.writeSchema()
	w.writeUser()
	w.loseChoice()
	w.out = append(w.out, w.x.Extensions...)
	return append(w.out, '}')
}

// askForObject asks in words for a JSON object; the format has no other way.
func (w *writer) askForObject() {
	if p := &w.prompt; w.x.Options.Has(core.FormatObject) {
		p.join(&p.hoisted)
		p.add([]byte(core.JSONObjectInstruction))
	}
}

// writePrompt writes the prompt as the beginning of the request.
func (w *writer) writePrompt() {
	p := &w.prompt
	if p.empty() {
		w.x.Invalid(w.x.PathOf(core.Conversation), "must hold at least one message with content")
	}
	w.out = jsonscan.AppendString(append(w.out, `{"model":`...), w.x.Info.Upstream)
	w.out = p.appendTo(append(w.out, `,"prompt":"`...))
	w.out = append(w.out, '"')
	w.x.Memory.LeadingSpace = p.space && !p.prefill
}

func (w *writer) writeMaxTokens() {
	if n, ok := w.x.MaxTokens(); ok {
		w.number("max_tokens", n)
	}
}

// writeSampling writes what shapes sampling.
func (w *writer) writeSampling() {
	w.option("temperature", core.Temperature)
	w.option("top_p", core.TopP)
	w.option("top_k", core.TopK)
	w.option("presence_penalty", core.PresencePenalty)
	w.option("frequency_penalty", core.FrequencyPenalty)
	w.option("logit_bias", core.LogitBias)
	w.option("seed", core.Seed)
}

// writeSamples asks for several answers; one is what every provider gives unasked.
func (w *writer) writeSamples() {
	if n := w.x.FanOut(!w.x.Traits.FanOutN); n > 1 {
		w.number("n", n)
	}
}

// writeStops writes the stops of the client, and the one with which the provider
// would begin another turn. That one is enforced too: some servers ignore it, and
// some repeat it.
func (w *writer) writeStops() {
	w.name("stop")
	w.out = append(w.out, '[')
	switch raw := w.x.Options.Raw(core.Stops); {
	case jsonscan.IsString(raw):
		w.out = append(append(w.out, raw...), ',')
	case raw != nil && !jsonscan.IsEmptyList(raw):
		w.out = append(append(w.out, raw[1:len(raw)-1]...), ',')
	}
	w.out = jsonscan.AppendString(w.out, w.prompt.stop)
	w.out = append(w.out, ']')
	w.x.Memory.Enforce = append(w.x.Memory.Enforce, w.prompt.stop)
}

func (w *writer) writeStream() {
	if !w.x.Memory.Stream {
		return
	}
	w.field("stream", []byte("true"))
	if !w.x.Traits.WithoutUsage {
		w.field("stream_options", []byte(`{"include_usage":true}`))
	}
}

// writeLogprobs asks for as many alternatives of each token as the client wants.
func (w *writer) writeLogprobs() {
	if most, ok := w.x.Logprobs(); ok {
		w.number("logprobs", most)
	}
}

// writeSchema asks for an answer that follows a schema, in the words of servers
// that have some for it; the format has none.
func (w *writer) writeSchema() {
	schema := w.x.Options.Raw(core.Schema)
	switch {
	case schema == nil:
	case w.x.Traits.Extension(translate.Completions, structuredOutputs):
		w.name(structuredOutputs)
		w.out = append(append(append(w.out, `{"json":`...), schema...), '}')
	default:
		w.field(guidedJSON, schema)
	}
}

// maxUser is the longest id of an end user that providers take, in bytes.
const maxUser = 64

func (w *writer) writeUser() {
	if w.x.Options.Has(core.EndUser) {
		w.name("user")
		w.out = jsonscan.AppendString(w.out, w.x.EndUser(maxUser))
	}
}

// loseChoice reports that no tool can be used, which the client demands.
func (w *writer) loseChoice() {
	if w.x.Options.ForcesTool() {
		w.x.Keep(core.ToolChoiceWithoutTools, nil)
	}
}

// option writes an option under a name if the request has it.
func (w *writer) option(name string, c core.Concept) {
	if raw := w.x.Options.Raw(c); raw != nil {
		w.field(name, raw)
	}
}

// field appends a member with a raw value.
func (w *writer) field(name string, raw []byte) {
	w.name(name)
	w.out = append(w.out, raw...)
}

// number appends a member with a number.
func (w *writer) number(name string, n int64) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, n, 10)
}

// name appends the name of a member that is not the first.
func (w *writer) name(name string) {
	w.out = append(append(append(w.out, `,"`...), name...), `":`...)
}
