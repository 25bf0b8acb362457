package request

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes chat requests.
var Target = core.Target{Format: translate.Chat, Outcomes: &outcomes, LongTexts: true, New: func() core.Writer { return new(writer) }}

// writer writes a chat request. It gathers the conversation and the tools in buffers,
// since a body may have its members in any order.
type writer struct {
	x *core.Translation

	system   parts.Content // the first message
	hoisted  parts.Content // later system texts that join the first message
	messages messages
	turn     turnBuffer
	result   result
	tools    parts.Tools
	scratch  []byte
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation, room int) {
	w.x, w.tools.Repeats = x, true
	w.tools.Begin(x.Traits.LetterFirst)
	w.system.Reset(openText, parts.BlankLine)
	w.hoisted.Reset(openText, parts.BlankLine)
	w.messages.reset(x.Traits.Alternation || x.Traits.SystemIsUser(), x.Traits.AssistantAfterResults)
	w.messages.buf = slices.Grow(w.messages.buf, room)
}

// Forget drops all references to the body.
func (w *writer) Forget() (kept int) {
	w.x = nil
	w.result = result{content: w.result.content, id: w.result.id}
	t := &w.turn
	for _, c := range [...]*parts.Content{&w.system, &w.hoisted, &w.messages.content, &t.content, &t.thinking, &t.hoisted, &w.result.content} {
		kept += c.Forget()
	}
	return kept + w.messages.size() + cap(t.calls) + w.tools.Forget() + cap(w.scratch) + cap(w.result.id)
}

// Tool adds a tool.
func (w *writer) Tool(t *core.Tool) {
	first := `,{"type":"function","function":{"name":"`
	if t.Free {
		first = `,{"type":"custom","custom":{"name":"`
	}
	core.ShapeTool(w.x, t)
	w.tools.Add(w.x, t, first)
	buf := w.tools.Buf
	if t.Syntax != nil {
		buf = append(append(buf, `,"format":{"type":"grammar","grammar":{"syntax":`...), t.Syntax...)
		buf = append(append(append(buf, `,"definition":`...), t.Definition...), "}}"...)
	}
	if t.Schema != nil {
		buf = core.AppendSchema(append(buf, `,"parameters":`...), t)
	}
	if t.Strict != nil {
		buf = append(append(buf, `,"strict":`...), t.Strict...)
	}
	w.tools.Buf = append(buf, `}}`...)
}

// appendNamed appends the choice of one tool.
func appendNamed(dst []byte, kind string, name []byte) []byte {
	dst = append(dst, `{"type":"`+kind+`","`+kind+`":{"name":"`...)
	return append(append(dst, name...), `"}}`...)
}

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	x, o := w.x, &w.x.Options
	if w.endConversation(); x.Failed() {
		return dst
	}
	members := core.Members(jsonscan.AppendString(append(dst, `{"model":`...), x.Info.Upstream))
	w.writeMessages(&members)
	if n, ok := x.MaxTokens(); ok {
		field := "max_tokens"
		if x.Traits.MaxCompletionTokens {
			field = "max_completion_tokens"
		}
		members.Number(field, n)
	}
	openai.AppendSamples(&members, x)
	effort := keptEffort(x)
	if !core.SamplesBeside(x, effort) {
		core.SampleBesideReasoning(x)
	}
	openai.AppendSampling(&members, o)
	switch stops := len(x.Answer.Cuts.Stops); {
	case stops == 0:
	case stops <= x.Traits.BoundStops(core.AllStops):
		members.Option("stop", &o[core.Stops])
	default:
		core.AppendStops(&members, x, "stop", core.AllStops, true)
	}
	openai.AppendStream(&members, x)
	if most, ok := x.Logprobs(); ok {
		members.Raw("logprobs", []byte("true"))
		members.Number("top_logprobs", most)
	}
	if w.tools.AppendTo(&members, x, appendNamed); len(w.tools.Buf) > 0 {
		x.Answer.Reasoning.Memory = x.Info.Seals
	}
	if o.Has(core.Schema) {
		core.SeparateSchema(x)
		members.Name("response_format")
		members = append(parts.AppendSchema(append(members, `{"type":"json_schema","json_schema":{`...), o), "}}"...)
	} else if o.Has(core.FormatObject) {
		members.Raw("response_format", []byte(`{"type":"json_object"}`))
	}
	writeModalities(&members, x)
	writeReasoning(&members, x, effort)
	parts.AppendUser(&members, x, parts.UserField(x.Traits))
	parts.AppendTier(&members, o)
	parts.AppendModeration(&members, o)
	parts.AppendCache(&members, o)
	members.Option("verbosity", &o[core.Verbosity])
	if w.messages.role == "assistant" && x.Traits.Prefill == trait.PrefillVLLM {
		members.Raw("continue_final_message", []byte("true"))
		members.Raw("add_generation_prompt", []byte("false"))
	}
	return append(append(members, x.Extensions...), '}')
}

// endConversation refuses an empty conversation, and one that the provider cannot
// continue. It puts the breakpoint of the whole request on the last part.
func (w *writer) endConversation() {
	x, last := w.x, &w.messages
	w.system.Join(&w.hoisted)
	marked := true
	switch wanted := x.Options.Has(core.CacheRequest); {
	case w.system.Empty() && last.empty():
		x.Invalid(x.PathOf(core.Conversation), "must hold at least one message with content")
	case wanted && last.empty():
		w.system.Mark()
	case wanted:
		marked = last.mark()
	}
	if last.role == "assistant" {
		x.KeepAt(last.place, core.Prefill)
	}
	if !marked {
		x.Lose(x.Options[core.CacheRequest].Row, nil)
	}
}

func (w *writer) writeMessages(members *core.Members) {
	members.Name("messages")
	first := len(*members)
	switch {
	case w.system.Empty():
		*members = w.messages.appendTo(*members)
	case w.x.Traits.SystemIsUser():
		*members = w.appendLed(*members)
	default:
		*members = append(append(append(*members, `,{"role":"`...), parts.SystemRole(w.x.Traits)...), `","content":`...)
		*members = w.messages.appendTo(append(w.system.AppendTo(*members), '}'))
	}
	*members = append(*members, ']')
	(*members)[first] = '[' // where the comma of the first message is
}

// appendLed appends the messages with the system text in front, as a text of the user: with the text
// or the parts of the first message if that is the user's.
func (w *writer) appendLed(dst []byte) []byte {
	const opening = `,{"role":"user","content":`
	all := w.messages.appendTo(nil)
	text, joins := bytes.CutPrefix(all, []byte(opening+`"`))
	switch {
	case w.system.IsArray(), bytes.HasPrefix(all, []byte(opening+`[`)):
		led, _ := w.system.Lead(all, opening+`[`)
		return append(dst, led...)
	case joins:
		dst = w.system.AppendTo(append(dst, opening...))
		return append(append(dst[:len(dst)-len(`"`)], parts.BlankLine...), text...)
	}
	dst = w.system.AppendTo(append(dst, opening...))
	return append(append(dst, '}'), all...)
}

// writeModalities asks for images, unless an extension of the client does. Models that make
// nothing else refuse a request for texts.
func writeModalities(members *core.Members, x *core.Translation) {
	switch asked := x.Options.OneOf(core.Images, core.ImagesAlone); {
	case asked == core.Nothing, x.Extensions.Has("modalities"):
	case asked == core.ImagesAlone:
		members.Raw("modalities", []byte(`["image"]`))
	default:
		members.Raw("modalities", []byte(`["image","text"]`))
	}
}

// keptEffort decides the effort of reasoning, Nothing for none. Templates with arguments have no
// efforts. Without either, the provider's default replaces adaptive reasoning.
func keptEffort(x *core.Translation) core.Concept {
	o := &x.Options
	if x.Traits.Extension(templateArguments) {
		x.Lose(o[o.OneOf(core.EffortNone, core.EffortOther)].Row, nil)
		return core.Nothing
	}
	effort, row := x.Effort()
	switch {
	case effort != core.Nothing && x.KeepAs(effort, row, nil):
		return effort
	case o.Has(core.ReasoningAdaptive):
		x.Keep(core.ReasoningAdaptive, nil)
	}
	return core.Nothing
}

// writeReasoning writes the effort of reasoning, or switches the thinking of the model or of a
// template, unless the client itself has set the switch or the arguments of the template.
func writeReasoning(members *core.Members, x *core.Translation, effort core.Concept) {
	switch {
	case effort == core.EffortNone && x.Traits.SwitchesOff():
		if name, member := x.Traits.ThinkingSwitch.Member(); !x.Extensions.Has(name) {
			*members = append(append(*members, ','), member...)
		}
	case effort != core.Nothing:
		members.Word("reasoning_effort", x.Traits.ReasoningEffort.Nearest(core.EffortOf(effort)).String())
	}
	if !x.Traits.Extension(templateArguments) || x.Extensions.Has(templateArguments) {
		return
	}
	switch x.Options.OneOf(core.ReasoningOn, core.ReasoningOff) {
	case core.Nothing:
	case core.ReasoningOff:
		members.Raw(templateArguments, []byte(`{"enable_thinking":false}`))
	default:
		members.Raw(templateArguments, []byte(`{"enable_thinking":true}`))
	}
}
