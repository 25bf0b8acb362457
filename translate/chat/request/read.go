package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// Source reads chat requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(reader) }}

// reader reads a chat request.
type reader struct {
	x      *core.Translation
	w      core.Writer
	cursor jsonscan.Cursor // over the body

	tools   []byte // raw; read behind the choice among them
	allowed *core.AllowedTools

	role      core.Role
	begun     bool     // a turn of another role than the system has been read
	freeCalls [][]byte // the escaped ids of calls with a free text

	late       bool // the turn is one of the system, and the writer has not got its beginning
	hasContent bool // the writer has got a part of the turn

	message core.Object
	list    jsonscan.Cursor // over the parts, the thinking or the calls of the message, or the tools
	item    core.Object     // the element of that list
	inner   core.Object     // an object in it

	// The arguments of the writer's methods, kept here to save allocations.
	parts struct {
		media   core.Media
		thought core.Thought
		call    core.Call
		result  core.Result
		tool    core.Tool
	}
}

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.cursor = x, w, jsonscan.Again(body)
	var choice []byte
	c := &r.cursor
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "messages":
			r.messages()
		case "tools":
			r.tools = c.Skip()
		case "tool_choice":
			choice = c.Skip()
		case "response_format":
			r.format(c.Skip())
		case "modalities":
			r.modalities(c.Skip())
		default:
			x.Member(c)
		}
	}
	r.choice(choice)
	r.readTools()
	r.foldOptions()
	return c.Finish()
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// readInner reads an object in the item.
func (r *reader) readInner(raw []byte, table *shape.Table, path string) {
	r.inner.ReadRaw(r.x, raw, table, path)
	r.inner.LoseOthers(r.x, table.Named(path))
}

// isObject reports whether a raw value at a path is an object, and refuses any other value.
func (r *reader) isObject(raw []byte, path string) bool {
	if len(raw) > 0 && raw[0] == '{' {
		return true
	}
	r.x.Invalid(path, "must be an object")
	return false
}

// isAbsent reports whether a raw value is missing or null.
func isAbsent(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }
