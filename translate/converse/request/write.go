package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes converse requests.
var Target = core.Target{
	Format: translate.Converse, Outcomes: &outcomes, DistinctCallIDs: true, LongTexts: true,
	ShortCallIDs: func(model string) bool { return vendorOf(model).shortIDs },
	New:          func() core.Writer { return new(writer) },
	Reserved: append([]string{
		"messages", "system", "inferenceConfig", "toolConfig", "outputConfig", "serviceTier", "additionalModelResponseFieldPaths", "input",
	}, trait.ChatOptions...),
	Nested: strings.Fields(nested),
}

// nested are the members of the objects in a request, and "member", with which the service
// marks the elements of lists in its errors.
const nested = `member
	role content text image video document format name source bytes s3Location uri context citations enabled
	cachePoint type ttl toolUse toolUseId input toolResult status searchResult title json
	reasoningContent reasoningText signature redactedContent guardContent
	maxTokens temperature topP stopSequences
	tools toolSpec description inputSchema strict systemTool toolChoice auto any tool
	textFormat structure jsonSchema schema additionalModelRequestFields`

// openText begins a text.
const openText = `{"text":"`

// The roles of messages.
const (
	user      = "user"
	assistant = "assistant"
)

// writer writes a converse request. It gathers the conversation, the system texts and the tools
// in buffers, since a body may have its members in any order.
type writer struct {
	core.Discard
	x      *core.Translation
	vendor *vendor // of the model

	system       parts.Content
	systemPoints []point
	messages     conversation
	turn         turn
	result       result
	tools        tools
	inLines      bool // a text of several lines is open
	thinks       bool // the model thinks, and samples in no other way then
	scratch      []byte
}

// turn is the turn that is being written.
type turn struct {
	role    core.Role
	written bool // something
	result  bool // the last part is a result
	hidden  bool // the last part was left out, or is reasoning: the service accepts no breakpoint behind it
}

// Begin begins a request.
func (w *writer) Begin(x *core.Translation, room int) {
	w.x, w.vendor, w.thinks, w.inLines = x, vendorOf(x.Info.Shown()), false, false
	x.Answer.Reasoning.Foreign = !w.vendor.signs
	w.system.Reset(openText, "")
	w.system.ToArray()
	w.messages.reset()
	w.messages.buf = slices.Grow(w.messages.buf, room)
}

// Forget drops all references to the body.
func (w *writer) Forget() (kept int) {
	w.x, w.turn, w.systemPoints = nil, turn{}, w.systemPoints[:0]
	w.result = result{content: w.result.content}
	return w.system.Forget() + w.messages.forget() + w.result.content.Forget() + w.tools.forget() + cap(w.scratch)
}

// Turn begins a turn.
func (w *writer) Turn(role core.Role) {
	if role == core.System {
		role = core.User
		if cmp.Or(w.x.Traits.MidSystem, lateSystem) == trait.MidSystemHoist {
			role = core.Instructions
		}
	}
	w.turn = turn{role: role}
}

// EndTurn ends the turn.
func (w *writer) EndTurn() {
	if !w.turn.written {
		w.x.Keep(core.EmptyTurn, nil)
	}
}

// parts returns the parts of the turn, or the content of the result in it.
func (w *writer) parts() *parts.Content {
	if w.result.open {
		return &w.result.content
	}
	w.turn.written, w.turn.result, w.turn.hidden = true, false, false
	if w.turn.role == core.Instructions {
		return &w.system
	}
	w.messages.begin(w.turn.messageRole(), w.x.At)
	return &w.messages.parts
}

// messageRole returns the role of the turn's message.
func (t *turn) messageRole() string {
	if t.role == core.Assistant {
		return assistant
	}
	return user
}

// Text adds a text, unless it is blank.
func (w *writer) Text(text []byte) {
	if !w.inLines && core.LeaveOut(w.x, w.turn.role, text) {
		w.turn.hidden = true
		return
	}
	w.parts().AddText(text)
	w.messages.text = w.messages.text || !w.result.open
}

// Refusal adds a text by which the assistant refuses. The format has no part of its own for
// refusals.
func (w *writer) Refusal(text []byte) { w.Text(text) }

// ToolReference adds the name of a tool that a search for tools has found.
func (w *writer) ToolReference(name []byte) { w.parts().AddReference(name) }

// CacheBreakpoint asks for a cache up to the last part, or up to the result that contains the
// part.
func (w *writer) CacheBreakpoint(ttl []byte) {
	switch {
	case w.result.open:
		w.result.mark, w.result.marked = w.newPoint(ttl), true
	case w.turn.hidden || !w.turn.written:
		w.x.Keep(core.CachePartsBeyond, nil)
	case w.turn.role == core.Instructions:
		w.systemPoints = addPoint(w.systemPoints, w.newPoint(ttl), &w.system.Buf)
	default:
		w.messages.mark(w.turn.result, w.newPoint(ttl))
	}
}

// newPoint returns a point without its position. Only models of Anthropic have another lifetime
// than that of the service.
func (w *writer) newPoint(ttl []byte) point {
	p := point{place: w.x.At, hour: jsonscan.TextOf(ttl) == "1h"}
	if p.hour && !w.vendor.isClaude() {
		core.Report(w.x, core.CachePartTTL, core.Hinted)
		p.hour = false
	}
	return p
}

// Finish appends the request.
func (w *writer) Finish(dst []byte) []byte {
	x := w.x
	x.FanOut(false)
	if m := &w.messages; m.role == assistant && !m.called {
		x.KeepAt(m.place, core.Prefill)
		if m.trim() {
			x.KeepAt(m.place, core.PrefillSpace)
		}
	}
	if cached, ttl := core.LastBreakpoint(x); cached && !w.messages.markEnd(w.newPoint(ttl)) {
		x.Lose(x.Options[core.CacheRequest].Row, nil)
	}
	w.messages.close()
	if x.Options.Has(core.FormatObject) {
		w.system.Add([]byte(core.JSONObjectInstruction))
	}
	if x.Traits.SystemIsUser() {
		w.messages.lead(&w.system)
		w.systemPoints = w.systemPoints[:0]
	}
	if len(w.messages.buf) == 0 {
		x.Invalid(x.PathOf(core.Conversation), "must hold at least one message with content that is no system message")
	}
	if x.Failed() {
		return dst
	}
	start := len(dst)
	members := core.Members(dst)
	if x.Info.Counts() {
		members = append(members, `{"input":{"converse":`...)
		start = len(members)
	}
	w.writeConversation(&members)
	w.tools.writeTo(&members, x)
	var own core.Members
	effort := w.writeThinking(&own)
	if !x.Info.Counts() {
		w.writeConfig(&members, effort)
	}
	w.writeAdditional(&members, own)
	members[start] = '{'
	if members = append(members, '}'); x.Info.Counts() {
		members = append(members, `}}`...)
	}
	return members
}

// writeConversation writes the messages and the system texts. The last breakpoints count.
func (w *writer) writeConversation(members *core.Members) {
	members.Name("messages")
	start := len(*members)
	buf, marked := appendMarked(*members, w.messages.buf, w.messages.points, maxPoints, w.x)
	*members = buf
	(*members)[start] = '[' // in place of the first comma
	*members = append(*members, ']')
	if w.system.Empty() {
		return
	}
	members.Name("system")
	*members, _ = appendMarked(append(*members, '['), w.system.Buf, w.systemPoints, maxPoints-marked, w.x)
	*members = append(*members, ']')
}
