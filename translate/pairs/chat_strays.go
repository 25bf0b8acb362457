package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// member is a member of an object, nil where the object has it not.
type member struct {
	name string
	raw  []byte
}

// says reports whether a member is neither absent nor empty.
func (m *member) says() bool {
	return m.raw != nil && string(m.raw) != `""` && !isEmptyList(m.raw)
}

// stray is a member of an object that only those of one kind have: messages by
// their role, parts by their type.
type stray struct {
	kind string
	member
}

// messageStrays reports the members of a message that only those of another
// role have. Nobody reads them here, so they are lost like unknown ones.
func (x *conversion) messageStrays(m *chat.Message, role []byte) {
	for _, s := range [...]stray{
		{"tool", member{"tool_call_id", m.ToolCallID}},
		{"assistant", member{"tool_calls", m.ToolCalls}},
		{"assistant", member{"function_call", m.FunctionCall}},
		{"assistant", member{"refusal", m.Refusal}},
		{"assistant", member{"audio", m.Audio}},
		{"assistant", member{"reasoning_content", m.ReasoningContent}},
		{"assistant", member{"reasoning", m.Reasoning}},
		{"assistant", member{"thinking_blocks", m.ThinkingBlocks}},
	} {
		x.stray(&s, lostTurn, role)
	}
}

// partStrays does so for the members of a part.
func (x *conversion) partStrays(p *chat.Part) { x.typeStrays(p, lostPart) }

func (x *conversion) typeStrays(p *chat.Part, lost string) {
	for _, s := range [...]stray{
		{"text", member{"text", p.Text}},
		{"refusal", member{"refusal", p.Refusal}},
		{"image_url", member{"image_url", p.ImageURL}},
		{"file", member{"file", p.File}},
		{"thinking", member{"thinking", p.Thinking}},
		{"thinking", member{"signature", p.Signature}},
		{"redacted_thinking", member{"data", p.Data}},
	} {
		x.stray(&s, lost, inner(p.Type))
	}
}

func (x *conversion) stray(s *stray, lost string, kind []byte) {
	if s.says() && s.kind != string(kind) {
		x.losses.AddIn(translate.Hint, lost, s.name)
	}
}

// mindStrays does so for the members of a thinking block, which has no
// breakpoints either.
func (x *conversion) mindStrays(p *chat.Part) {
	x.typeStrays(p, lostMind)
	x.foreign(&member{"cache_control", p.CacheControl}, lostMind)
	x.foreign(&member{"prompt_cache_breakpoint", p.Breakpoint}, lostMind)
}

// mediaStrays reports the members that only the other kind of media has.
func (x *conversion) mediaStrays(kind string, m *chat.Media) {
	for _, s := range [...]stray{
		{"image_url", member{"url", m.URL}}, {"image_url", member{"detail", m.Detail}},
		{"file", member{"file_data", m.FileData}}, {"file", member{"file_id", m.FileID}}, {"file", member{"filename", m.Filename}},
	} {
		x.stray(&s, lostPart+kind+".", []byte(kind))
	}
}

// callStrays reports the members that only the definitions of functions have.
func (x *conversion) callStrays(f *chat.Function) {
	for _, m := range [...]member{{"description", f.Description}, {"parameters", f.Parameters}, {"strict", f.Strict}} {
		x.foreign(&m, lostCall+"function.")
	}
}

// toolStrays reports the members that only calls have.
func (x *conversion) toolStrays(t *chat.Tool, f *chat.Function) {
	x.foreign(&member{"id", t.ID}, lostTools)
	x.foreign(&member{"arguments", f.Arguments}, lostTools+"function.")
}

// foreign reports a member that does not belong where it stands.
func (x *conversion) foreign(m *member, lost string) {
	if m.says() {
		x.losses.AddIn(translate.Hint, lost, m.name)
	}
}
