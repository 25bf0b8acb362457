package pairs

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// What follows writes a conversation for providers that only go on with a text
// (wire format B.7).

// beginPrompt begins the prompt. It reports false where the provider has no
// template for conversations, which are refused then.
func (x *conversion) beginPrompt(p *prompt) bool {
	t := templates[x.traits.PromptTemplate]
	if t == nil {
		x.refuseBy(&noTemplate, "messages", "")
		return false
	}
	p.reset(t)
	return true
}

// guardText refuses an escaped text that would forge turns of the prompt. Labels
// count only for those who ask for a guard: such lines are common prose.
func (x *conversion) guardText(p *prompt, text []byte, path func() string) {
	labels := p.labels
	if !x.traits.TemplateGuard {
		labels = nil
	}
	if len(p.controls)+len(labels) == 0 {
		return
	}
	if bytes.Contains(text, []byte(`\u`)) {
		text = x.unhidden(text)
	}
	if sign := forged(text, p.controls, labels); sign != "" && x.fault == nil {
		x.fault = x.info.RefuseControl(path(), sign)
		x.fault.Trait = "prompt_template"
		if slices.Contains(labels, sign) {
			x.fault.Trait = "template_guard"
		}
	}
}

// unhidden is an escaped text with no more escapes than it needs. It is valid
// until the scratch is used again.
func (x *conversion) unhidden(text []byte) []byte {
	quoted := append(append(append(x.scratch[:0], '"'), text...), '"')
	decoded := jsonscan.AppendText(quoted, quoted)
	x.scratch = jsonscan.AppendEscaped(decoded, decoded[len(quoted):])
	return x.scratch[len(decoded):]
}

// midSystem adds a system turn that the client sent as a message, whose role is at
// path. It reports whether it stands elsewhere than where the client put it.
func (x *conversion) midSystem(p *prompt, text *content, path func(string) string) (moved bool) {
	switch mid := x.traits.MidSystemFor(x.to); {
	case len(p.turns) == 0 && mid != translate.MidSystemKeep:
		p.hoisted.join(text) // nothing but the system text comes before it
		return false
	case mid == translate.MidSystemRefuse:
		x.decide(&refusedMidSystem, translate.RefuseLateSystem(path("role")))
		return false
	case mid == translate.MidSystemUser:
		p.add(p.user, text)
		return true
	case mid == translate.MidSystemHoist:
		p.hoisted.join(text)
		return true
	default:
		p.add(p.note, text)
		return false
	}
}

// writePrompt writes the beginning of the request.
func (x *conversion) writePrompt(p *prompt) {
	x.out = append(x.out, `{"model":`...)
	x.out = jsonscan.AppendString(x.out, x.info.Upstream)
	x.out = append(x.out, `,"prompt":"`...)
	x.out = p.appendTo(x.out)
	x.out = append(x.out, '"')
	x.memory.LeadingSpace = p.space && !p.prefill
}

// writeStops writes the client's stop texts, a raw string or array, and the one
// with which the provider would begin another turn. That one is enforced too:
// some servers ignore it, and some repeat it.
func (x *conversion) writeStops(p *prompt, raw []byte) {
	x.name("stop")
	x.out = append(x.out, '[')
	switch {
	case isString(raw):
		x.out = append(append(x.out, raw...), ',')
	case raw != nil && !isEmptyList(raw):
		x.out = append(append(x.out, raw[1:len(raw)-1]...), ',')
	}
	x.out = jsonscan.AppendString(x.out, p.stop)
	x.out = append(x.out, ']')
	x.memory.Enforce = append(x.memory.Enforce, p.stop)
}

// writeTokens writes under a name how many tokens the answer may have, at most as
// many as the model gives: the raw value of the client's member.
func (x *conversion) writeTokens(name string, raw []byte, member string) {
	if n, ok := integer(raw); ok {
		x.name(name)
		x.out = strconv.AppendInt(x.out, x.boundTokens(n, member), 10)
	}
}

// boundTokens returns n, or the most that the model gives, which is reported.
func (x *conversion) boundTokens(n int64, member string) int64 {
	most, less := x.traits.BoundTokens(n)
	if less {
		x.shaping(member)
	}
	return most
}

// sampleCompletions writes what every server takes of what shapes sampling, and
// top_k where this one does.
func (x *conversion) sampleCompletions(temperature, topP, topK []byte) {
	may := x.traits.SamplingFor(x.to) != translate.SamplingNone
	x.sample("temperature", temperature, may)
	x.sample("top_p", topP, x.mayTopP(temperature))
	x.sample("top_k", topK, may && x.traits.Extension(x.to, "top_k"))
}

// structured asks for an answer that follows a schema, in the words of servers
// that have some for it; the format has none.
func (x *conversion) structured(schema []byte, path string) {
	switch {
	case x.traits.Extension(x.to, "structured_outputs"):
		x.name("structured_outputs")
		x.out = append(append(append(x.out, `{"json":`...), schema...), '}')
	case x.traits.Extension(x.to, "guided_json"):
		x.field("guided_json", schema)
	default:
		x.refuseBy(&schemas[0], path, "")
	}
}

// endTools refuses tools, which a text has no place for, unless the model is
// not to call them anyway, or the provider is configured to go without. choice
// is the raw tool_choice.
func (x *conversion) endTools(any bool, choice []byte) {
	kind := x.choiceOf(choice)
	switch {
	case any && !x.traits.DropUnsupportedTools && kind != "none":
		x.refuseBy(&withoutTools, "tools", "")
		return
	case any:
		x.hint("tools")
	}
	x.loseChoice(kind)
}

// choiceOf is the word of a tool_choice: itself, or its type.
func (x *conversion) choiceOf(raw []byte) string {
	if raw == nil || isString(raw) {
		return textOf(raw)
	}
	kind := ""
	if x.object(raw, "tool_choice") {
		for x.options.Member() {
			if string(x.options.Name()) == "type" {
				kind = textOf(x.option())
			} else {
				x.options.Skip()
			}
		}
	}
	return kind
}
