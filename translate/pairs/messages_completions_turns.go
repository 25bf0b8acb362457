package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// said is the message being read.
type said struct {
	body     []byte
	at       place
	role     string
	text     content
	lost     string // the path of losses in the block being read
	lastUser int    // the last turn of a person, once it had to be found
	server   serverCalls
}

// serverCalls are the calls of tools that the vendor runs, in the last turn of
// the assistant.
type serverCalls struct {
	open int    // how many have no result
	path string // of the last one
}

// Begin begins a message.
func (x *messagesCompletions) Begin(index int, role string) {
	s := &x.said
	s.at, s.role, s.lost = place{name: "messages", index: index}, role, lostBlock
	switch role {
	case "user":
		s.text.reset(lineFeed)
	case "assistant":
		s.text.reset("")
		s.server = serverCalls{}
	case "system":
		s.text.reset(blankLine)
	default:
		x.invalid(s.at.path("role"), "must be 'user', 'assistant' or 'system'")
	}
}

// Text is the content of a message that is one text.
func (x *messagesCompletions) Text(raw []byte) {
	if text := inner(raw); len(text) > 0 {
		x.said.text.add(text)
	}
}

// Block is a block of a message. All but texts is refused: a prompt could only
// leave it out.
func (x *messagesCompletions) Block(index int, b *messages.Block) {
	if x.fault != nil {
		return
	}
	at := place{up: &x.said.at, name: "content", index: index, depth: 1, lost: lostBlock}
	x.blockStrays(b, lostBlock)
	if x.said.role == "assistant" && x.ownBlock(b, &at) {
		return
	}
	x.textBlock(b, &at, &x.said.text)
}

// ownBlock handles what only an assistant says beside texts, and can be left
// out. Calls of the client's tools cannot.
func (x *messagesCompletions) ownBlock(b *messages.Block, at *place) bool {
	switch string(b.Type) {
	case "thinking":
		x.losses.AddIn(translate.Hint, lostBlock, "thinking")
	case "redacted_thinking":
		x.losses.AddIn(translate.Hint, lostBlock, "data")
	case "server_tool_use":
		x.losses.AddIn(translate.Shaping, lostMessage, "content.*")
		x.said.server.open++
		x.said.server.path = at.path("type")
	default:
		if !isServerResult(b.Type) {
			return false
		}
		x.losses.AddIn(translate.Shaping, lostMessage, "content.*")
		x.said.server.open = max(0, x.said.server.open-1)
	}
	return true
}

// textBlock adds a text; an empty one is no text.
func (x *messagesCompletions) textBlock(b *messages.Block, at *place, to *content) {
	if string(b.Type) != "text" {
		x.refuse(at.path("type"), shownText(b.Type))
		return
	}
	if b.Citations != nil && !isEmptyList(b.Citations) {
		x.losses.AddIn(translate.Hint, at.lost, "citations")
	}
	if b.CacheControl != nil {
		x.losses.AddIn(translate.Hint, at.lost, "cache_control")
	}
	if text := inner(b.Text); len(text) > 0 {
		to.add(text)
	}
}

// End adds the message to the prompt.
func (x *messagesCompletions) End(m *messages.Message) {
	if x.fault != nil {
		return
	}
	s := &x.said
	x.guardText(&x.prompt, s.text.buf, func() string { return s.at.path("content") })
	if s.text.empty() && (s.role != "system" || m.OutputConfig == nil) {
		x.hint(emptyTurn)
	}
	switch s.role {
	case "user":
		x.prompt.add(x.prompt.user, &s.text)
	case "assistant":
		x.prompt.add(x.prompt.assistant, &s.text)
	default:
		x.endSystem(m)
		return
	}
	x.dropSystemMembers(m)
}

// endSystem adds a system turn, unless it was meant for turns that are over.
func (x *messagesCompletions) endSystem(m *messages.Message) {
	if m.OutputConfig != nil {
		x.losses.AddIn(translate.Shaping, lostMessage, "output_config")
	}
	if x.isCleared(m) && x.lastUserTurn() > x.said.at.index {
		return
	}
	if x.midSystem(&x.prompt, &x.said.text, x.said.at.path) {
		x.losses.AddIn(translate.Shaping, lostMessage, "role")
	}
}

// lastUserTurn is the index of the last turn of a person, -1 if there is none.
// Few requests ask for it, so those read the conversation twice.
func (x *messagesCompletions) lastUserTurn() int {
	if x.said.lastUser == unknownTurn {
		x.said.lastUser = lastUserTurn(x.said.body)
	}
	return x.said.lastUser
}
