package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// messages reads the conversation.
func (r *reader) messages() {
	c := &r.cursor
	for r.x.EnterList(c, "messages"); r.x.NextElement(c); {
		r.message()
	}
}

// message contains the members of a message that wait for the others.
type message struct {
	known   bool   // the role of the message is known
	content []byte // in front of the role, or of the system
	config  []byte
	clearAt []byte
}

// message reads a message. The content of users and assistants is written while it is
// read; the content of the system waits for the member that limits its reach.
func (r *reader) message() {
	c := &r.cursor
	var m message
	for c.OpenObject(); c.Member(); {
		name := c.Name()
		switch {
		case c.Null():
		case string(name) == "role":
			r.begin(&m)
		case string(name) == "content" && m.known && r.role != core.System:
			r.content(c, 0)
		case string(name) == "content":
			m.content = c.Skip()
		case string(name) == "output_config":
			m.config = c.Skip()
		case string(name) == "clear_at":
			m.clearAt = c.Skip()
		default:
			if c.Skip() != nil {
				r.x.LoseMember("", name)
			}
		}
	}
	r.end(&m)
}

// begin begins the turn of a role.
func (r *reader) begin(m *message) {
	text, ok := r.cursor.Text()
	if !ok {
		r.cursor.Skip()
		return
	}
	m.known, r.person, r.late = true, false, false
	switch string(text) {
	case "user":
		r.role = core.User
	case "assistant":
		r.role, r.serverCalls = core.Assistant, 0
	case "system":
		r.role, r.late = core.System, true
		return
	default:
		m.known = false
		return
	}
	r.begun = true
	r.w.Turn(r.role)
}

// end ends the turn.
func (r *reader) end(m *message) {
	switch {
	case r.x.Failed():
		return
	case !m.known:
		r.x.Invalid("role", "must be 'user', 'assistant' or 'system'")
		return
	case r.role == core.System:
		r.endSystem(m)
		return
	case m.content != nil:
		c := &r.levels[0].cursor
		*c = jsonscan.Again(m.content)
		r.content(c, 0)
	}
	if r.person && r.role == core.User {
		r.overtakeEffort()
	}
	r.w.EndTurn()
	if m.config != nil {
		r.x.Lose(foreignConfigRow, nil)
	}
	if m.clearAt != nil {
		r.x.Lose(foreignClearingRow, nil)
	}
}

// content reads the content of a message: a text or blocks.
func (r *reader) content(c *jsonscan.Cursor, level int) {
	if raw, ok := c.RawString(); ok {
		r.person = true
		r.text(jsonscan.Inner(raw))
		return
	}
	r.blocks(c, level, "content", blocksOf[r.role])
}

// text writes a text, which may be the first one of a turn of the system.
func (r *reader) text(text []byte) {
	if len(text) == 0 || r.late && !r.beginLate() {
		return
	}
	r.w.Text(text)
}

// beginLate begins a turn of the system, and reports whether the writer gets the turn.
func (r *reader) beginLate() bool {
	r.late = false
	if r.begun && !r.x.Keep(core.LateSystem, nil) {
		return false
	}
	r.w.Turn(core.System)
	return true
}

// endSystem reads a turn of the system, unless its reach has ended.
func (r *reader) endSystem(m *message) {
	if m.config != nil {
		r.config(m.config)
	}
	if m.content == nil || r.isCleared(m.clearAt) {
		return
	}
	c := &r.levels[0].cursor
	*c = jsonscan.Again(m.content)
	r.content(c, 0)
	switch {
	case r.x.Failed():
	case !r.late:
		r.w.EndTurn()
	case m.config == nil:
		r.x.Lose(emptyTurnRow, nil)
	}
}

// config reads the options of a turn of the system.
func (r *reader) config(raw []byte) {
	c := jsonscan.Again(raw)
	if !c.EnterObject() {
		r.x.Invalid("output_config", "must be an object")
		return
	}
	for c.Member() {
		name := c.Name()
		if string(name) != "effort" {
			c.Skip()
			r.x.LoseMember("output_config", name)
		} else if value := c.Skip(); jsonscan.IsString(value) {
			r.overtakeEffort()
			r.effort = core.Option{Raw: value, Row: rows.Value("messages.*.output_config.effort", jsonscan.TextOf(value))}
		} else if len(value) > 0 && value[0] != 'n' {
			r.x.Invalid("output_config.effort", "must be a string")
		}
	}
}

// overtakeEffort ends the reach of an effort, which is the next message of a person or
// the next effort.
func (r *reader) overtakeEffort() {
	if r.effort.Raw != nil {
		r.x.Lose(overtakenEffortRow, nil)
		r.effort = core.Option{}
	}
}

// isCleared reports whether the reach of a turn of the system has ended: the turn counts
// up to the next message of a person, and there is one.
func (r *reader) isCleared(raw []byte) bool {
	if raw == nil {
		return false
	}
	at := jsonscan.TextOf(raw)
	if at != "next_user_message" && at != "never" {
		r.x.Lose(unknownClearingRow, nil)
	}
	return at == "next_user_message" && lastPerson(r.body) > r.x.At.Index()
}

// lastPerson returns the index of the last message of a user that contains more than the
// results of tools, -1 if there is none. It reads the body again, which few requests need.
func lastPerson(body []byte) (last int) {
	last = -1
	c := jsonscan.Again(body)
	for c.EnterObject(); c.Member(); {
		if string(c.Name()) != "messages" || !c.EnterArray() {
			c.Skip()
			continue
		}
		for i := 0; c.Element(); i++ {
			if isPerson(c.Skip()) {
				last = i
			}
		}
	}
	return last
}

// isPerson reports whether a raw message is one of a user and contains more than the
// results of tools.
func isPerson(message []byte) bool {
	var role, content []byte
	for name, value := range jsonscan.Members(message) {
		switch string(name) {
		case "role":
			role = value
		case "content":
			content = value
		}
	}
	if jsonscan.TextOf(role) != "user" {
		return false
	}
	c := jsonscan.Again(content)
	if !c.EnterArray() {
		return jsonscan.IsString(content)
	}
	for c.Element() {
		if !isResult(c.Skip()) {
			return true
		}
	}
	return false
}

// isResult reports whether a raw block is the result of a tool.
func isResult(block []byte) bool {
	for name, value := range jsonscan.Members(block) {
		if string(name) == "type" {
			return jsonscan.TextOf(value) == "tool_result"
		}
	}
	return false
}
