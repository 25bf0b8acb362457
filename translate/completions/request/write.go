package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes completions requests.
var Target = core.Target{Format: translate.Completions, Outcomes: &outcomes, Reserved: trait.ChatOptions, New: func() core.Writer { return new(writer) }}

// writer writes a completions request. The conversation becomes one prompt, which the
// provider continues. writer gathers the prompt in a buffer, since a body may have its
// members in any order.
type writer struct {
	core.Discard
	x      *core.Translation
	out    core.Members
	prompt prompt
	role   core.Role // of the turn

	scratch []byte
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation) {
	w.x = x
	w.prompt.reset(templates[x.Traits.PromptTemplate])
}

// Forget drops all references to the body.
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
	openai.AppendSampling(&w.out, &w.x.Options)
	openai.AppendSamples(&w.out, w.x)
	w.writeStops()
	openai.AppendStream(&w.out, w.x)
	w.writeLogprobs()
	w.writeSchema()
	parts.AppendUser(&w.out, w.x, "user")
	w.loseChoice()
	w.out = append(w.out, w.x.Extensions...)
	return append(w.out, '}')
}

// askForObject adds an instruction to answer with a JSON object, since the format has no field for it.
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
	w.x.Answer.LeadingSpace = p.space && !p.prefill
}

func (w *writer) writeMaxTokens() {
	if n, ok := w.x.MaxTokens(); ok {
		w.out.Number("max_tokens", n)
	}
}

// writeStops writes the stops of the client, and the text that begins another turn. The
// gateway also enforces that text, since some servers ignore it and some repeat it.
func (w *writer) writeStops() {
	w.out.Name("stop")
	w.out = append(w.out, '[')
	switch raw := w.x.Options.Raw(core.Stops); {
	case jsonscan.IsString(raw):
		w.out = append(append(w.out, raw...), ',')
	case raw != nil && !jsonscan.IsEmptyList(raw):
		w.out = append(append(w.out, raw[1:len(raw)-1]...), ',')
	}
	w.out = jsonscan.AppendString(w.out, w.prompt.stop)
	w.out = append(w.out, ']')
	w.x.Answer.Enforce = append(w.x.Answer.Enforce, w.prompt.stop)
}

// writeLogprobs asks for the alternatives of each token, if the client does.
func (w *writer) writeLogprobs() {
	if most, ok := w.x.Logprobs(); ok {
		w.out.Number("logprobs", most)
	}
}

// writeSchema writes the schema of the answer into a field that some servers have beyond
// the format.
func (w *writer) writeSchema() {
	schema := w.x.Options.Raw(core.Schema)
	switch {
	case schema == nil:
	case w.x.Traits.Extension(structuredOutputs):
		w.out.Name(structuredOutputs)
		w.out = append(append(append(w.out, `{"json":`...), schema...), '}')
	default:
		w.out.Raw(guidedJSON, schema)
	}
}

// loseChoice reports the loss of a choice by which a tool must be used.
func (w *writer) loseChoice() {
	if w.x.Options.ForcesTool() {
		w.x.Keep(core.ToolChoiceWithoutTools, nil)
	}
}
