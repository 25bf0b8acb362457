package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
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
	prompt prompt
	role   core.Role // of the turn

	scratch []byte
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation, _ int) {
	w.x = x
	w.prompt.reset(templates[x.Traits.PromptTemplate])
}

// Forget drops all references to the body.
func (w *writer) Forget() (kept int) {
	w.x = nil
	return w.prompt.size() + cap(w.scratch)
}

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	x, o, p := w.x, &w.x.Options, &w.prompt
	if o.Has(core.FormatObject) { // the format has no field for it
		p.join(&p.hoisted)
		p.add([]byte(core.JSONObjectInstruction))
	}
	if p.empty() {
		x.Invalid(x.PathOf(core.Conversation), "must hold at least one message with content")
	}
	members := core.Members(jsonscan.AppendString(append(dst, `{"model":`...), x.Info.Upstream))
	members = append(p.appendTo(append(members, `,"prompt":"`...)), '"')
	x.Answer.Cuts.LeadingSpace = p.space && !p.prefill
	if n, ok := x.MaxTokens(); ok {
		members.Number("max_tokens", n)
	}
	openai.AppendSampling(&members, o)
	openai.AppendSamples(&members, x)
	w.writeStops(&members)
	openai.AppendStream(&members, x)
	if alternatives, ok := x.Logprobs(); ok {
		members.Number("logprobs", alternatives)
	}
	switch schema := o.Raw(core.Schema); { // some servers have a field for it beyond the format
	case schema == nil:
	case x.Traits.Extension(structuredOutputs):
		members.Name(structuredOutputs)
		members = append(append(append(members, `{"json":`...), schema...), '}')
	default:
		members.Raw(guidedJSON, schema)
	}
	parts.AppendUser(&members, x, "user")
	if o.ForcesTool() {
		x.Keep(core.ToolChoiceWithoutTools, nil)
	}
	return append(append(members, x.Extensions...), '}')
}

// writeStops writes the stops of the client, and the text that begins another turn. The
// gateway also enforces that text, since some servers ignore it and some repeat it.
func (w *writer) writeStops(members *core.Members) {
	x := w.x
	most := x.Traits.BoundStops(core.AllStops)
	some := core.AppendStops(members, x, "stop", most-1, true)
	x.Answer.Cuts.Enforced = append(x.Answer.Cuts.Enforced, w.prompt.stop)
	switch {
	case most == 0:
		return
	case some:
		(*members)[len(*members)-1] = ','
	default:
		members.Name("stop")
		*members = append(*members, '[')
	}
	*members = append(jsonscan.AppendString(*members, w.prompt.stop), ']')
}
