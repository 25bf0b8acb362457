package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// Message adds a message to the prompt.
func (x *chatCompletions) Message(index int, m *chat.Message) {
	if x.fault != nil {
		return
	}
	x.at = index
	role := x.plain(m.Role)
	x.messageStrays(m, role)
	switch string(role) {
	case "system", "developer":
		x.texts(m, blankLine)
		x.guard()
		x.systemTurn()
		x.noteEmpty()
		return
	case "user":
		if x.texts(m, lineFeed); x.text.empty() {
			x.refuse(x.path("content"), "")
		}
		x.guard()
		x.prompt.add(x.prompt.user, &x.text)
	case "assistant":
		x.assistantTurn(m)
	default: // the result of a tool
		x.refuse(x.path("role"), shownText(role))
	}
	x.begun = true
}

// systemTurn adds a system text: in front of all else while nobody else spoke.
func (x *chatCompletions) systemTurn() {
	switch {
	case !x.begun:
		x.prompt.system.join(&x.text)
	case x.midSystem(&x.prompt, &x.text, x.path):
		x.losses.Add(translate.Shaping, "messages[*].role")
	}
}

// assistantTurn adds what the assistant has said. What it called cannot be
// said, what it thought need not.
func (x *chatCompletions) assistantTurn(m *chat.Message) {
	for _, f := range [...]struct {
		member string
		raw    []byte
	}{{"tool_calls", m.ToolCalls}, {"function_call", m.FunctionCall}, {"audio", m.Audio}} {
		if f.raw != nil && !isEmptyList(f.raw) {
			x.refuse(x.path(f.member), "")
		}
	}
	for _, f := range [...]struct {
		member string
		raw    []byte
	}{{"reasoning_content", m.ReasoningContent}, {"reasoning", m.Reasoning}, {"thinking_blocks", m.ThinkingBlocks}} {
		if f.raw != nil && string(f.raw) != `""` && !isEmptyList(f.raw) {
			x.losses.AddIn(translate.Shaping, "messages[*].", f.member)
		}
	}
	x.texts(m, "")
	if text := x.refusal(m); len(text) > 0 {
		x.text.add(text)
	}
	x.guard()
	x.prompt.add(x.prompt.assistant, &x.text)
	x.noteEmpty()
}

// noteEmpty reports a message that says nothing, and is left out.
func (x *chatCompletions) noteEmpty() {
	if x.text.empty() {
		x.hint(emptyChatTurn)
	}
}

// guard refuses a message that would forge turns.
func (x *chatCompletions) guard() {
	x.guardText(&x.prompt, x.text.buf, func() string { return x.path("content") })
}

// path is the path of a member of the message being read.
func (x *chatCompletions) path(member string) string {
	return "messages[" + strconv.Itoa(x.at) + "]." + member
}

// texts gathers the texts of a message, which may hold nothing else.
func (x *chatCompletions) texts(m *chat.Message, between string) {
	x.text.reset(between)
	if text := inner(m.Content); len(text) > 0 {
		x.text.add(text)
	}
	x.parts.Begin(m.Content, x)
	for x.part = 0; x.fault == nil; x.part++ {
		p := x.parts.Part(chat.InPart)
		if p == nil {
			break
		}
		x.textPart(p)
	}
}

func (x *chatCompletions) textPart(p *chat.Part) {
	x.partStrays(p)
	var text []byte
	switch string(inner(p.Type)) {
	case "text":
		text = inner(p.Text)
	case "refusal":
		text = inner(p.Refusal)
	default:
		x.refuse(x.path("content["+strconv.Itoa(x.part)+"].type"), shown(p.Type))
		return
	}
	if p.CacheControl != nil {
		x.losses.Add(translate.Hint, "messages[*].content[*].cache_control")
	}
	if p.Breakpoint != nil {
		x.losses.Add(translate.Hint, "messages[*].content[*].prompt_cache_breakpoint")
	}
	if len(text) > 0 {
		x.text.add(text)
	}
}
