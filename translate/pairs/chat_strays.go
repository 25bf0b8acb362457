package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// stray is a member of an object that only those of one kind have: messages by
// their role, parts by their type.
type stray struct {
	kind, member string
	raw          []byte
}

// messageStrays reports the members of a message that only those of another
// role have. Nobody reads them here, so they are lost like unknown ones.
func (x *conversion) messageStrays(m *chat.Message, role []byte) {
	for _, s := range [...]stray{
		{"tool", "tool_call_id", m.ToolCallID},
		{"assistant", "tool_calls", m.ToolCalls},
		{"assistant", "function_call", m.FunctionCall},
		{"assistant", "refusal", m.Refusal},
		{"assistant", "audio", m.Audio},
		{"assistant", "reasoning_content", m.ReasoningContent},
		{"assistant", "reasoning", m.Reasoning},
		{"assistant", "thinking_blocks", m.ThinkingBlocks},
	} {
		x.stray(&s, lostTurn, role)
	}
}

// partStrays does so for the members of a part.
func (x *conversion) partStrays(p *chat.Part) {
	for _, s := range [...]stray{
		{"text", "text", p.Text},
		{"refusal", "refusal", p.Refusal},
		{"image_url", "image_url", p.ImageURL},
		{"file", "file", p.File},
		{"thinking", "thinking", p.Thinking},
		{"thinking", "signature", p.Signature},
		{"redacted_thinking", "data", p.Data},
	} {
		x.stray(&s, lostPart, inner(p.Type))
	}
}

func (x *conversion) stray(s *stray, lost string, kind []byte) {
	if s.raw != nil && s.kind != string(kind) && string(s.raw) != `""` && !isEmptyList(s.raw) {
		x.losses.AddIn(translate.Hint, lost, s.member)
	}
}
