package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// message reads a message. The content of users and assistants is written while it is
// read; the content of the system waits for the member that limits its reach.
func (r *reader) message(c *jsonscan.Cursor) {
	var content jsonscan.Slot
	var config, clearAt []byte
	known := false // the role is known
	person := false
	for c.OpenObject(); c.Member(); {
		name := c.Name()
		switch {
		case c.Null():
		case string(name) == "role":
			known = r.begin(c)
		case string(name) == "content" && known && r.turn.role != core.System:
			person = r.read(c, 0, "content", blocksOf[r.turn.role])
		case string(name) == "content":
			_, content = c.SkipAt()
		case string(name) == "output_config":
			config = c.Skip()
		case string(name) == "clear_at":
			clearAt = c.Skip()
		default:
			if c.Skip() != nil {
				r.x.LoseMember("", name)
			}
		}
	}
	switch {
	case r.x.Failed():
		return
	case !known:
		r.x.Invalid("role", "must be 'user', 'assistant' or 'system'")
		return
	case r.turn.role == core.System:
		r.systemMessage(c, content, config, clearAt)
		return
	case content.End > 0:
		person = r.readAt(c, content, blocksOf[r.turn.role])
	}
	if person && r.turn.role == core.User {
		r.overtakeEffort()
	}
	r.w.EndTurn()
	if config != nil {
		r.x.Lose(foreignConfigRow, nil)
	}
	if clearAt != nil {
		r.x.Lose(foreignClearingRow, nil)
	}
}

// begin begins the turn of the role at the cursor, and reports whether the role is known.
func (r *reader) begin(c *jsonscan.Cursor) (known bool) {
	switch string(jsonscan.DecodedOf(c.StringOrSkip())) {
	case "user":
		r.turn = turn{role: core.User}
	case "assistant":
		r.turn = turn{role: core.Assistant}
		r.server.open = 0
	case "system":
		r.turn = turn{role: core.System}
		return true
	default:
		return false
	}
	r.begun, r.turn.open = true, true
	r.w.Turn(r.turn.role)
	return true
}

// systemMessage reads the content of a message of the system, unless its reach has ended,
// and the effort that it sets.
func (r *reader) systemMessage(c *jsonscan.Cursor, content jsonscan.Slot, config, clearAt []byte) {
	if config != nil {
		r.config(config)
	}
	if content.End == 0 || isCleared(r.x, clearAt, r.body) {
		return
	}
	r.readAt(c, content, systemBlocks)
	switch {
	case r.x.Failed():
	case r.turn.open:
		r.w.EndTurn()
	case config == nil:
		r.x.Lose(emptyTurnRow, nil)
	}
}

// config reads the options of a message of the system.
func (r *reader) config(raw []byte) {
	c := jsonscan.Again(raw)
	if !c.EnterObject() {
		r.x.Invalid("output_config", "must be an object")
		return
	}
	for c.Member() {
		name := c.Name()
		switch value := c.Skip(); {
		case string(name) != "effort":
			r.x.LoseMember("output_config", name)
		case jsonscan.IsString(value):
			r.overtakeEffort()
			r.effort = core.Option{Raw: value, Row: rows.Value("messages.*.output_config.effort", jsonscan.TextOf(value))}
		case len(value) > 0 && value[0] != 'n':
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

// isCleared reports whether the reach of a message of the system has ended: the message
// counts up to the next message of a person, and there is one.
func isCleared(x *core.Translation, clearAt, body []byte) bool {
	if clearAt == nil {
		return false
	}
	moment := jsonscan.TextOf(clearAt)
	if moment != "next_user_message" && moment != "never" {
		x.Lose(unknownClearingRow, nil)
	}
	return moment == "next_user_message" && lastPerson(body) > x.At.Index()
}

// lastPerson returns the index of the last message of a user that contains more than the
// results of tools, -1 if there is none. It reads the body again, which few requests need.
func lastPerson(body []byte) (last int) {
	last = -1
	c := jsonscan.Again(body)
	for c.EnterObject(); c.Member(); {
		if string(c.Name()) != "messages" {
			c.Skip()
			continue
		}
		c.OpenArray()
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
	content := member(message, "content")
	if jsonscan.TextOf(member(message, "role")) != "user" {
		return false
	}
	if jsonscan.IsString(content) {
		return true
	}
	c := jsonscan.Again(content)
	for c.OpenArray(); c.Element(); {
		if jsonscan.TextOf(member(c.Skip(), "type")) != "tool_result" {
			return true
		}
	}
	return false
}

// member returns the raw value of a member of a raw object, nil for none.
func member(object []byte, name string) []byte {
	for found, value := range jsonscan.Members(object) {
		if string(found) == name {
			return value
		}
	}
	return nil
}
