package pairs

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// messagesChat writes a messages request as a chat request. The conversation
// and the tools are written while the body is read, into buffers of their own,
// since the body may have its members in any order; the rest comes after.
type messagesChat struct {
	fromMessages
	inside  [maxNesting]nested
	sources messages.Reader

	turns   turns
	system  content // the first message
	hoisted content // later system texts that join the first
	turn    turn
	value   []byte // the content of a message

	tools     []byte
	toolNames []toolName
	effort    []byte // of the last system turn that no user turn follows, raw
}

// keptBuffers is the most memory, in bytes, that waits for the next request.
const keptBuffers = 2 << 20

var messagesChats = sync.Pool{New: func() any { return new(messagesChat) }}

func messagesToChat(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	x := messagesChats.Get().(*messagesChat)
	x.begin(dst, translate.Chat, info)
	x.convert(body)
	out, rendered, fault := x.end()
	if x.forget(); x.buffers() <= keptBuffers {
		messagesChats.Put(x)
	}
	return out, rendered, fault
}

// forget lets go of the body.
func (x *messagesChat) forget() {
	x.fromMessages.forget()
	x.inside, x.sources = [maxNesting]nested{}, messages.Reader{}
	x.turn.body = nil
	clear(x.toolNames)
	x.toolNames, x.effort = x.toolNames[:0], nil
}

// buffers is how much memory is kept, in bytes.
func (x *messagesChat) buffers() int {
	n := cap(x.turns.buf) + cap(x.tools) + cap(x.toolNames) + cap(x.extensions) + cap(x.value) + cap(x.scratch) + cap(x.turn.calls)
	for _, c := range [...]*content{&x.system, &x.hoisted, &x.turn.content, &x.turn.thinking, &x.turn.hoisted, &x.turn.result} {
		const end = 8
		n += cap(c.buf) + cap(c.spare) + end*cap(c.ends)
	}
	return n
}

func (x *messagesChat) convert(body []byte) {
	x.turns.reset(x.traits.Alternation)
	x.hoisted.reset(blankLine)
	x.tools = x.tools[:0]
	x.turn.body, x.turn.lastUser = body, unknownTurn
	x.turn.serverOpen = 0
	x.readMessages(body, x)
	x.finishTurns()
	if x.fault == nil {
		x.write()
	}
}

// finishTurns refuses a conversation that cannot end as it does.
func (x *messagesChat) finishTurns() {
	if x.turn.serverOpen > 0 {
		x.refuse(x.turn.server.path("type"), "'server_tool_use'")
	}
	if x.turns.role == "assistant" && x.traits.Prefill == translate.PrefillRefuse {
		last := place{name: "messages", index: x.turns.index}
		x.decide(&prefills[0], x.info.RefusePrefill(x.to, last.path("")))
	}
	x.readSystem()
	if x.fault == nil && x.system.empty() && len(x.turns.buf) == 0 {
		x.invalid("messages", "must hold at least one message with content")
	}
	if x.request.CacheControl != nil {
		x.markLast()
	}
}

// write writes the request.
func (x *messagesChat) write() {
	x.out = append(x.out, `{"model":`...)
	x.out = jsonscan.AppendString(x.out, x.info.Upstream)
	x.writeMessages()
	x.writeMaxTokens()
	x.writeSampling()
	x.writeStop()
	x.writeStream()
	x.writeTools()
	x.writeFormat()
	x.writeReasoning()
	x.writeUser()
	x.writeTier()
	x.writePrefill()
	x.writeExtensions()
	x.out = append(x.out, '}')
}

func (x *messagesChat) writeMessages() {
	x.name("messages")
	x.out = append(x.out, '[')
	rest := x.turns.buf
	if x.system.empty() {
		rest = rest[1:] // its comma
	} else {
		x.out = append(x.out, `{"role":"`...)
		x.out = append(x.out, x.systemRole()...)
		x.out = append(x.out, `","content":`...)
		x.out = x.system.appendTo(x.out)
		x.out = append(x.out, '}')
	}
	x.out = append(x.out, rest...)
	x.out = append(x.out, ']')
}

// Other is told of members that nothing here reads.
func (x *messagesChat) Other(level messages.Level, name, value []byte) {
	switch {
	case level == messages.InRequest && x.traits.Extension(x.to, string(name)):
		x.extension(name, value)
	case level == messages.InRequest:
		x.losses.AddNamed(translate.Hint, "", name)
	default:
		x.losses.AddNamed(translate.Hint, x.lossPrefix(level), name)
	}
}
