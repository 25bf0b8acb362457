package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	responsesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Source reads responses requests.
//
// Their clients are agents, which send no bound of their answers, and expect long ones.
var Source = core.Source{
	Rows: rows, New: func() core.Reader { return new(requestReader) }, Unbounded: (*trait.Traits).AgentTokens,
}

// requestReader reads a responses request.
type requestReader struct {
	x      *core.Translation
	w      core.Writer
	cursor jsonscan.Cursor // over the body

	// Members of the body, raw, that are read behind the others.
	input, tools, choice []byte

	settings responsesanswer.Settings // that the answer repeats

	item core.Object     // of the input
	list jsonscan.Cursor // over the parts of the item
	part core.Object

	hasInstructions bool

	begun     bool // the conversation has begun
	late      bool // the turn is one of the system that has not begun
	role      core.Role
	turn      assistantTurn
	userTurn  userTurn
	freeCalls map[string]bool // the ids of calls that had a free text, as they are written
	update    update          // the last change of settings in the input

	toolList toolReader
	media    core.Media
	result   core.Result
}

// Read reads a body.
func (r *requestReader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.cursor = x, w, jsonscan.Again(body)
	c, instructed := &r.cursor, false
	for c.OpenObject(); c.Member(); {
		setting, start := responsesanswer.SettingOf(c.Name()), c.Offset()
		switch string(c.Name()) {
		case "instructions":
			r.readInstructions(c.Skip())
			instructed = true
		case "input":
			if !instructed { // instructions come first, wherever the member is
				r.input = c.Skip()
				break
			}
			r.readInput(c)
		case "tools":
			r.tools = c.Skip()
		case "tool_choice":
			r.choice = c.Skip()
		case "include":
			r.include(c.Skip())
		default:
			x.Member(c)
		}
		r.settings.Set(setting, body[start:c.Offset()])
	}
	r.readLateInput()
	r.readChoice()
	r.readTools()
	r.readUpdate()
	r.foldOptions()
	r.remember()
	return c.Finish()
}

// Forget lets go of the body.
func (r *requestReader) Forget() {
	*r = requestReader{
		turn:     assistantTurn{thoughts: forgotten(r.turn.thoughts), calls: forgotten(r.turn.calls)},
		toolList: toolReader{declared: forgotten(r.toolList.declared)},
	}
}

// keptParts is the length of the longest list that waits for the next request.
const keptParts = 1024

// forgotten returns an empty list that holds nothing of a body.
func forgotten[T any](list []T) []T {
	if cap(list) > keptParts {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// readInstructions writes the instructions.
func (r *requestReader) readInstructions(raw []byte) {
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.hasInstructions = true
		r.w.Turn(core.Instructions)
		r.w.Text(text)
		r.w.EndTurn()
	}
}

// readLateInput reads the input if that had to wait for the instructions.
func (r *requestReader) readLateInput() {
	if r.input != nil {
		c := jsonscan.Again(r.input)
		r.readInput(&c)
	}
}

// readInput writes the conversation: a text of the user, or items.
func (r *requestReader) readInput(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.Array:
		r.readItems(c)
	case jsonscan.String:
		r.readText(jsonscan.Inner(c.Skip()))
	default:
		c.Skip()
	}
}

// readText writes the input that is a text of the user. Some formats accept instructions
// without it.
func (r *requestReader) readText(text []byte) {
	r.w.Turn(core.User)
	switch {
	case len(text) > 0:
		r.w.Text(text)
	case !r.hasInstructions:
		r.x.Invalid("input", "must not be empty")
	}
	r.w.EndTurn()
}

// readItems writes the items. A turn of the assistant may consist of several items, so
// turns are joined here.
func (r *requestReader) readItems(c *jsonscan.Cursor) {
	r.x.At.Enter("input")
	for c.OpenArray(); c.Element(); {
		if r.x.Failed() {
			c.Skip()
			continue
		}
		r.x.At.Next()
		r.item.Read(r.x, c, itemShapes, "")
		r.readItem()
	}
	r.endAssistant()
	r.endUser()
	r.x.At.Leave()
}

// elements begins to read an array at a path of the element at hand; element moves to
// its next element, until the last or until something is refused.
func (r *requestReader) elements(raw []byte, path string) {
	r.list = jsonscan.Again(raw)
	r.x.EnterList(&r.list, path)
}

func (r *requestReader) element(table *shape.Table) bool {
	if !r.x.NextElement(&r.list) {
		return false
	}
	r.part.Read(r.x, &r.list, table, "")
	return true
}
