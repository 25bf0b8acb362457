package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Message adds a message.
func (x *chatMessages) Message(index int, m *chat.Message) {
	if x.fault != nil {
		return
	}
	x.at = index
	role := x.plain(m.Role)
	x.messageStrays(m, role)
	before := len(x.system.buf) + len(x.dialog.buf)
	x.turn(m, role)
	if len(x.system.buf)+len(x.dialog.buf) == before {
		x.hint(emptyChatTurn)
	}
}

func (x *chatMessages) turn(m *chat.Message, role []byte) {
	switch string(role) {
	case "system", "developer":
		x.systemTurn(m)
		return
	case "user":
		x.userTurn(m)
	case "assistant":
		x.assistantTurn(m)
	case "tool":
		x.toolTurn(m)
	default:
		x.refuse(x.turnPath("role"), shownText(role))
	}
	x.begun = true
}

// systemTurn adds a system text: to the system prompt while nobody else spoke,
// later where the provider can have it.
func (x *chatMessages) systemTurn(m *chat.Message) {
	switch mid := x.traits.MidSystemFor(x.to); {
	case !x.begun:
		x.texts(&x.system, "", m)
	case mid == translate.MidSystemKeep && (x.dialog.role == "user" || x.dialog.role == "system"):
		x.texts(&x.dialog, "system", m)
	case mid == translate.MidSystemRefuse:
		x.decide(&refusedMidSystem, translate.RefuseLateSystem(x.turnPath("role")))
	case mid == translate.MidSystemUser:
		x.losses.AddIn(translate.Shaping, lostTurn, "role")
		x.texts(&x.dialog, "user", m)
	default: // the format has them only behind a user
		x.losses.AddIn(translate.Shaping, lostTurn, "role")
		x.texts(&x.system, "", m)
	}
}

// texts adds content that can only be texts.
func (x *chatMessages) texts(to *dialog, role string, m *chat.Message) {
	if len(inner(m.Content)) > 0 {
		to.text(role, m.Content)
		return
	}
	for p := x.parts(m.Content); p != nil; p = x.nextPart() {
		if string(inner(p.Type)) == "text" {
			x.textPart(to, role, p)
		} else {
			x.refuse(x.itemPath("type"), shown(p.Type))
		}
	}
}

// parts begins to read the parts of a message; nextPart gives the next one, nil
// after the last or once something was refused.
func (x *chatMessages) parts(raw []byte) *chat.Part {
	x.in, x.item = "content", -1
	x.list.Begin(raw, x)
	return x.nextPart()
}

func (x *chatMessages) nextPart() *chat.Part {
	if x.fault != nil {
		return nil
	}
	x.item++
	p := x.list.Part(chat.InPart)
	if p != nil {
		x.partStrays(p)
	}
	return p
}

// userTurn adds what a user says, which must be something.
func (x *chatMessages) userTurn(m *chat.Message) {
	x.unsigned = false
	before := len(x.dialog.buf)
	if len(inner(m.Content)) > 0 {
		x.dialog.text("user", m.Content)
	} else {
		x.pieces("user", m.Content)
	}
	if len(x.dialog.buf) == before {
		x.refuse(x.turnPath("content"), "")
	}
}

// pieces adds the parts that a user or a tool may say.
func (x *chatMessages) pieces(role string, raw []byte) {
	for p := x.parts(raw); p != nil; p = x.nextPart() {
		switch string(inner(p.Type)) {
		case "text":
			x.textPart(&x.dialog, role, p)
		case "image_url":
			x.image(role, p)
		case "file":
			x.file(role, p)
		default:
			x.refuse(x.itemPath("type"), shown(p.Type))
		}
	}
}

// toolTurn adds the result of a call. Results that follow each other, and what
// the user says between and behind them, share one message, which the format
// wants to begin with the results.
func (x *chatMessages) toolTurn(m *chat.Message) {
	d := &x.dialog
	const open = `{"type":"tool_result","tool_use_id":"`
	d.begin("user", open)
	from := len(d.buf) - len(open)
	d.buf = x.appendID(d.buf, m.ToolCallID)
	d.buf = append(d.buf, '"')
	x.resultContent(m.Content)
	d.buf = append(d.buf, '}')
	if x.fault == nil && d.lead(from) {
		x.losses.AddIn(translate.Shaping, lostTurn, "role")
	}
}

// resultContent adds what a tool returned, if anything.
func (x *chatMessages) resultContent(raw []byte) {
	d := &x.dialog
	if isString(raw) {
		if len(inner(raw)) > 0 {
			d.buf = append(append(d.buf, `,"content":`...), raw...)
		}
		return
	}
	empty := len(d.buf)
	d.buf = append(d.buf, `,"content":[`...)
	first := len(d.buf)
	x.pieces("", raw)
	if len(d.buf) == first {
		d.buf = d.buf[:empty]
	} else {
		d.buf = append(d.buf, ']')
	}
}

// appendID appends the id of a call, escaped, as messages providers take it.
func (x *chatMessages) appendID(dst, raw []byte) []byte {
	if id := inner(raw); len(id) > 0 {
		x.scratch = jsonscan.AppendText(x.scratch[:0], raw)
		return translate.AppendToolID(dst, x.scratch)
	}
	return dst
}

// endDialog ends the conversation. One that ends with the assistant is continued
// by the provider, which takes no white space there.
func (x *chatMessages) endDialog() {
	if x.fault != nil {
		return
	}
	d := &x.dialog
	if d.role == "assistant" && !d.endsWith(openCall) {
		x.losses.AddIn(translate.Shaping, lostTurn, "content")
		d.trim()
	}
	d.close()
	if d.empty() {
		x.invalid("messages", "must hold at least one message with content that is no system message")
	}
}
