package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	responsesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
)

// Source reads responses requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(requestReader) }}

// requestReader reads a responses request.
type requestReader struct {
	x      *core.Translation
	w      core.Writer
	cursor jsonscan.Cursor // over the body

	// Members of the body, raw, that are read behind the others.
	instructions, input, tools, choice []byte

	settings responsesanswer.Settings // that the answer repeats

	items jsonscan.Cursor // over the input
	item  core.Object
	list  jsonscan.Cursor // over the parts of the item
	part  core.Object

	begun     bool // somebody other than the system has spoken
	late      bool // the turn is one of the system that has not begun
	role      core.Role
	turn      assistantTurn
	userTurn  userTurn
	freeCalls [][]byte // the ids of calls that had a free text, as they are written
	update    update   // the last change of settings in the input

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
	c := &r.cursor
	for c.OpenObject(); c.Member(); {
		setting, start := responsesanswer.SettingOf(c.Name()), c.Offset()
		switch string(c.Name()) {
		case "instructions":
			r.instructions = c.Skip()
		case "input":
			r.input = c.Skip()
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
	r.readInstructions()
	r.readInput()
	r.readChoice()
	r.readTools()
	r.readUpdate()
	r.foldOptions()
	r.remember()
	return c.Finish()
}

// Forget lets go of the body.
func (r *requestReader) Forget() {
	*r = requestReader{turn: assistantTurn{thoughts: forgotten(r.turn.thoughts), calls: forgotten(r.turn.calls)}}
}

// forgotten returns an empty list that holds nothing of a body.
func forgotten[T any](list []T) []T {
	clear(list[:cap(list)])
	return list[:0]
}

// readInstructions writes what the system says in front.
func (r *requestReader) readInstructions() {
	if text := jsonscan.Inner(r.instructions); len(text) > 0 {
		r.w.Turn(core.Instructions)
		r.w.Text(text)
		r.w.EndTurn()
	}
}

// readInput writes the conversation: what a user says, or items.
func (r *requestReader) readInput() {
	switch {
	case len(r.input) == 0:
	case r.input[0] == '"':
		r.w.Turn(core.User)
		if text := jsonscan.Inner(r.input); len(text) > 0 {
			r.w.Text(text)
		}
		r.w.EndTurn()
	case r.input[0] == '[':
		r.readItems()
	}
}

// readItems writes the items. Whoever speaks, thinks and calls goes on from item to
// item, so the turns of the assistant are put together here.
func (r *requestReader) readItems() {
	r.items = jsonscan.Again(r.input)
	r.items.EnterArray()
	r.x.At.Enter("input")
	for !r.x.Failed() && r.items.Element() {
		r.x.At.Next()
		r.item.Read(r.x, &r.items, itemMembers, "")
		r.readItem()
	}
	r.endAssistant()
	r.endUser()
	r.x.At.Leave()
}

// word returns the decoded text of a member.
func word(o *core.Object, m member) []byte { return jsonscan.DecodedOf(o.Raw(int(m))) }

// text returns the text of a member, escaped.
func text(o *core.Object, m member) []byte { return jsonscan.Inner(o.Raw(int(m))) }

// elements begins to read an array at a path of the element at hand; element moves to
// its next element, until the last or until something is refused.
func (r *requestReader) elements(raw []byte, path string) {
	r.list = jsonscan.Again(raw)
	r.x.EnterList(&r.list, path)
}

func (r *requestReader) element(names *core.Names) bool {
	if !r.x.NextElement(&r.list) {
		return false
	}
	r.part.Read(r.x, &r.list, names, "")
	return true
}
