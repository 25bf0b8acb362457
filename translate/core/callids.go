package core

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// callWriter is the Writer in front of that of a format: it makes the ids of calls unique and
// short for the services that refuse others, and keeps them for the translation of the answer.
// The call and its result get the same id, always the same for the same conversation.
type callWriter struct {
	Writer
	x        *Translation
	distinct bool
	ids      trait.CallIDs
	tools    bool // the request has some
	history  toolcall.History
}

var callWriters = sync.Pool{New: func() any { return new(callWriter) }}

// withCalls returns a callWriter in front of w.
func withCalls(x *Translation, w Writer) *callWriter {
	c := callWriters.Get().(*callWriter)
	c.Writer, c.x, c.tools = w, x, false
	c.ids = x.Traits.CallIDs
	if x.To.ShortCallIDs != nil && x.To.ShortCallIDs(x.Info.Shown()) {
		c.ids = trait.CallIDsNine
	}
	c.distinct = x.To.DistinctCallIDs || c.ids == trait.CallIDsNine
	return c
}

// end keeps the ids of the calls, and drops all references to the request.
func (w *callWriter) end() {
	w.x.Answer.Input.Calls = w.history.Hashes()
	w.Writer, w.x = nil, nil
	w.history.Reset()
	callWriters.Put(w)
}

// Turn implements Writer.
func (w *callWriter) Turn(role Role) {
	if role != Assistant {
		w.history.EndTurn()
	}
	w.Writer.Turn(role)
}

// Tool implements Writer.
func (w *callWriter) Tool(t *Tool) {
	w.tools = true
	w.Writer.Tool(t)
}

// Call implements Writer.
func (w *callWriter) Call(c *Call) {
	id := c.ID
	if c.ID = w.named(id); len(c.ID) > 0 {
		text := unescaped(c.ID)
		c.ID = w.fit(c.ID, text, w.history.Call(text))
	}
	w.Writer.Call(c)
	c.ID = id
}

// OpenResult implements Writer.
func (w *callWriter) OpenResult(r *Result) {
	id := r.ID
	if r.ID = w.named(id); len(r.ID) > 0 {
		text := unescaped(r.ID)
		r.ID = w.fit(r.ID, text, w.history.Result(text))
	}
	w.Writer.OpenResult(r)
	r.ID = id
}

// unnamed is the id of calls whose ids are empty, as some servers give them. Their numbers
// distinguish them.
var unnamed = []byte("call")

// named returns an id that services accept in place of an empty one, which the others do not mind.
func (w *callWriter) named(id []byte) []byte {
	if len(id) == 0 && w.distinct {
		return unnamed
	}
	return id
}

// fit returns the escaped id that the writer of the format gets for an escaped id. text is the
// text of the id, and unique that of no other call.
func (w *callWriter) fit(id, text, unique []byte) []byte {
	switch {
	case w.ids == trait.CallIDsNine:
		return toolcall.AppendShortID(nil, unique)
	case w.ids == trait.CallIDsShort && len(unique) > toolcall.MaxID:
		return toolcall.AppendDigest(nil, unique)
	case w.distinct && len(unique) != len(text):
		return jsonscan.AppendEscaped(nil, unique)
	}
	return id
}

// unescaped returns the text of an escaped id.
func unescaped(id []byte) []byte {
	if jsonscan.HasEscapes(id) {
		return jsonscan.AppendUnescaped(nil, id)
	}
	return id
}
