package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// The paths of losses.
const (
	emptyChatTurn = "messages[*]" // a message that says nothing, and is left out
	lostTurn      = "messages[*]."
	lostPart      = lostTurn + "content[*]."
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
func (x *conversion) partStrays(p *chat.Part) {
	for _, s := range [...]stray{
		{"text", member{"text", p.Text}},
		{"refusal", member{"refusal", p.Refusal}},
		{"image_url", member{"image_url", p.ImageURL}},
		{"file", member{"file", p.File}},
		{"thinking", member{"thinking", p.Thinking}},
		{"thinking", member{"signature", p.Signature}},
		{"redacted_thinking", member{"data", p.Data}},
	} {
		x.stray(&s, lostPart, inner(p.Type))
	}
}

func (x *conversion) stray(s *stray, lost string, kind []byte) {
	if s.says() && s.kind != string(kind) {
		x.losses.AddIn(translate.Hint, lost, s.name)
	}
}
