package request

import (
	"cmp"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// turns joins contents of one role to turns, since clients send a content for each event of a
// stream and for each result.
//
// The texts and thoughts of the model wait for the next call. The signature of the call may seal
// the reasoning in front of them.
type turns struct {
	x     *core.Translation
	w     core.Writer
	turn  parts.Turns
	runs  int // the number of turns of the model
	waits []waiting
}

// waiting is a text or a thought of the model, with its place.
type waiting struct {
	place   core.Place
	text    []byte
	thought bool
}

// begin begins the turn of a role, or continues it.
func (t *turns) begin(role core.Role) {
	if t.turn.Is(role) {
		return
	}
	t.end()
	t.turn.Begin(role)
	if role == core.Assistant {
		t.runs++
	}
}

// end ends the turn.
func (t *turns) end() {
	t.write(false)
	t.turn.End()
}

// text adds a text, or a thought.
func (t *turns) text(role core.Role, text []byte, thought bool) {
	if t.begin(role); role == core.Assistant {
		t.waits = append(t.waits, waiting{t.x.At, text, thought})
	} else {
		t.w.Text(text)
	}
}

// write writes what waits. sealed reports that the thoughts were in the signature of a call.
func (t *turns) write(sealed bool) {
	now := t.x.At
	for _, part := range t.waits {
		switch t.x.At = part.place; {
		case !part.thought:
			t.w.Text(part.text)
		case !sealed && t.x.KeepAs(core.UnsignedReasoning, thoughtRow, nil):
			t.w.Reasoning(&core.Thought{Text: part.text})
		}
	}
	t.x.At, t.waits = now, t.waits[:0]
}

// reason writes the reasoning that led to a call, and what waits. Signatures that are no seals of
// this gateway, or seals for another provider, are left out.
func (t *turns) reason(signature []byte) {
	x := t.x
	thoughts, ok := unsealed(x.Info.Seals, jsonscan.DecodedOf(signature))
	if !ok && len(jsonscan.Inner(signature)) > 0 {
		x.Lose(signatureRow, nil)
	}
	for i := range thoughts {
		thought := &thoughts[i]
		isEmpty := thought.Origin == core.Unsigned && len(thought.Text) == 0
		if !isEmpty && x.KeepAs(thought.Concept(), sealedRow, nil) {
			t.w.Reasoning(thought)
		}
	}
	t.write(ok)
}

// calls are the calls of the last turn of the model that had any.
type calls struct {
	run   int
	list  []call
	found map[callKey]queue
}

// call is a call. Its strings are escaped.
type call struct {
	id       []byte // what the provider gets
	name     []byte
	answered bool
	response []byte // nil for one without a value
	next     [3]int // the indices of the next calls, by what calls are found by
}

// callKey is what calls are found by: the client's id, or the name of calls with an id or without.
type callKey struct {
	by   int
	text string
}

const byID, byName, byNameAlone = 0, 1, 2

// queue is the calls with one key, by their indices: from the first that may have no response.
type queue struct{ first, last int }

// add adds a call of a turn. Calls without an id of their own get one that is the same whenever
// the conversation is sent, as the caches of providers require.
func (c *calls) add(run int, id, name []byte, content, part int) *call {
	if c.run != run {
		clear(c.found)
		c.run, c.list = run, c.list[:0]
	}
	own, ids, names := id, callKey{byID, string(id)}, callKey{byName, string(name)}
	if len(id) == 0 {
		names.by = byNameAlone
	}
	if _, taken := c.found[ids]; taken || len(id) == 0 {
		own = fmt.Appendf(nil, "gwp_%d_%d", content, part)
	}
	number := len(c.list)
	c.list = append(c.list, call{id: own, name: name})
	for _, key := range [...]callKey{ids, names} {
		q, found := c.found[key]
		if found {
			c.list[q.last].next[key.by] = number
		} else {
			q.first = number
		}
		c.found[key] = queue{q.first, number}
	}
	return &c.list[number]
}

// answered returns the call that a result answers: by its id, or else the first without a
// result that has the name. A call that has a result is returned only by its id.
func (c *calls) answered(id, name []byte) *call {
	ids := callKey{byID, string(id)}
	if q, found := c.found[ids]; found && len(id) > 0 {
		return cmp.Or(c.next(ids), &c.list[q.first])
	}
	return cmp.Or(c.next(callKey{byNameAlone, string(name)}), c.next(callKey{byName, string(name)}))
}

// next returns the first call with a key that has no response, nil for none.
func (c *calls) next(key callKey) *call {
	for q, found := c.found[key]; found; c.found[key] = q {
		first := &c.list[q.first]
		switch {
		case !first.answered:
			return first
		case q.first == q.last:
			return nil
		}
		q.first = first.next[key.by]
	}
	return nil
}
