package pairs

import (
	"strconv"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// chatMessages writes a chat request as a messages request. The conversation is
// written while the body is read, into a buffer of its own, since the body may
// have its members in any order; the rest comes after.
type chatMessages struct {
	conversion
	request chat.Request
	reader  chat.Reader
	list    chat.List // over the parts of a message, or the tools
	inside  chat.List // over what stands in one of those

	system dialog
	dialog dialog
	tools  dialog
	choice toolWish

	at       int    // the message being read
	in       string // the list of it that is read
	item     int    // the element of that list
	media    string // the member of that element that is read
	begun    bool   // something else than a system text was said
	unsigned bool   // since a user spoke last, calls were made whose thinking is gone

	format chatFormat
}

var chatsMessages = sync.Pool{New: func() any { return new(chatMessages) }}

func chatToMessages(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	x := chatsMessages.Get().(*chatMessages)
	x.begin(dst, translate.Messages, info)
	x.convert(body)
	out, rendered, fault := x.end()
	if x.forget(); x.buffers() <= keptBuffers {
		chatsMessages.Put(x)
	}
	return out, rendered, fault
}

// forget lets go of the body.
func (x *chatMessages) forget() {
	x.request, x.reader = chat.Request{}, chat.Reader{}
	x.list, x.inside = chat.List{}, chat.List{}
	x.choice, x.format = toolWish{}, chatFormat{}
}

// buffers is how much memory is kept, in bytes.
func (x *chatMessages) buffers() int {
	return cap(x.system.buf) + cap(x.dialog.buf) + cap(x.tools.buf) + cap(x.extensions) + cap(x.scratch)
}

func (x *chatMessages) convert(body []byte) {
	x.system.reset()
	x.dialog.reset()
	x.tools.reset()
	x.at, x.begun, x.unsigned = 0, false, false
	x.malformed(x.reader.Walk(body, &x.request, x))
	x.fanOut(x.request.N)
	x.refuseFields()
	x.endDialog()
	x.readStream(x.request.Stream, x.request.StreamOptions)
	if x.format = x.readFormat(x.request.ResponseFormat); x.format.words {
		x.system.text("", []byte(`"`+jsonObjectSystem+`"`))
	}
	x.readTools()
	if x.fault == nil {
		x.write()
	}
}

// write writes the request.
func (x *chatMessages) write() {
	x.out = append(x.out, `{"model":`...)
	x.out = jsonscan.AppendString(x.out, x.info.Upstream)
	most := x.maxTokens(x.chatTokens(&x.request))
	x.writeDialog()
	x.writeChoice()
	thinks := x.writeThinking(most)
	x.writeSampling(thinks)
	x.stopSequences(x.request.Stop)
	if x.memory.Stream {
		x.field("stream", []byte("true"))
	}
	x.writeUser()
	x.writeTier()
	x.writeExtensions()
	x.out = append(x.out, '}')
}

// writeDialog writes the system prompt, the messages and the tools. Of their
// breakpoints the last ones count, in the order in which a provider reads them.
func (x *chatMessages) writeDialog() {
	x.name("messages")
	x.out = append(x.out, '[')
	room := x.writeMarked(&x.dialog, maxBreakpoints, lostPart)
	if !x.system.empty() {
		x.name("system")
		x.out = append(x.out, '[')
		room = x.writeMarked(&x.system, room, lostPart)
	}
	if !x.tools.empty() {
		x.name("tools")
		x.out = append(x.out, '[')
		x.writeMarked(&x.tools, room, lostTools)
	}
}

// writeMarked writes a list to its end, and returns how many breakpoints are left.
func (x *chatMessages) writeMarked(d *dialog, room int, lost string) int {
	out, used := d.appendTo(x.out, room)
	x.out = append(out, ']')
	if d.lost {
		x.losses.AddIn(translate.Hint, lost, "cache_control")
	}
	return room - used
}

// The paths of losses.
const (
	emptyChatTurn = "messages[*]" // a message that says nothing, and is left out

	lostTurn  = "messages[*]."
	lostPart  = lostTurn + "content[*]."
	lostCall  = lostTurn + "tool_calls[*]."
	lostMind  = lostTurn + "thinking_blocks[*]."
	lostTools = "tools[*]."
)

var lostPaths = [...]string{
	chat.InMessage:      lostTurn,
	chat.InPart:         lostPart,
	chat.InThinking:     lostMind,
	chat.InCall:         lostCall,
	chat.InCallFunction: lostCall + "function.",
	chat.InTool:         lostTools,
	chat.InToolFunction: lostTools + "function.",
}

// Other is told of members that nothing here reads.
func (x *chatMessages) Other(level chat.Level, name, value []byte) {
	switch {
	case level == chat.InMedia:
		x.losses.AddNamed(translate.Hint, lostPart+x.media+".", name)
	case level != chat.InRequest:
		x.losses.AddNamed(translate.Hint, lostPaths[level], name)
	case x.traits.Extension(x.to, string(name)):
		x.extension(name, value)
	default:
		x.losses.AddNamed(translate.Hint, lostRequest, name)
	}
}

// turnPath is the path of a member of the message being read.
func (x *chatMessages) turnPath(member string) string {
	return "messages[" + strconv.Itoa(x.at) + "]." + member
}

// itemPath is the path of a member of the element being read.
func (x *chatMessages) itemPath(member string) string {
	path := x.in + "[" + strconv.Itoa(x.item) + "]." + member
	if x.in == "tools" {
		return path
	}
	return x.turnPath(path)
}
