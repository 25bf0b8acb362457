package request

import (
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
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
	begun bool // there was a turn
	open  bool // the writer has got the beginning of a turn
	role  core.Role
	runs  int // the number of turns of the model
	waits []waiting
}

// waiting is a text or a thought of the model, with its place.
type waiting struct {
	at      core.Place
	text    []byte
	thought bool
}

// begin begins the turn of a role, or continues it.
func (t *turns) begin(role core.Role) {
	if t.open && t.role == role {
		return
	}
	t.end()
	t.open, t.begun, t.role = true, true, role
	if role == core.Assistant {
		t.runs++
	}
	t.w.Turn(role)
}

// end ends the turn.
func (t *turns) end() {
	if !t.open {
		return
	}
	t.write(false)
	t.w.EndTurn()
	t.open = false
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
		switch t.x.At = part.at; {
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
	if len(jsonscan.Inner(signature)) == 0 {
		t.write(false)
		return
	}
	thoughts, ok := unsealed(x.Info.Seals, jsonscan.DecodedOf(signature))
	if !ok {
		x.Lose(signatureRow, nil)
	}
	for i := range thoughts {
		if thought := &thoughts[i]; t.keeps(thought) {
			t.w.Reasoning(thought)
		}
	}
	t.write(ok)
}

// keeps reports whether the writer gets reasoning that was sealed.
func (t *turns) keeps(thought *core.Thought) bool {
	switch thought.From {
	case core.Signed:
		return t.x.KeepAs(core.Signature, sealedRow, nil)
	case core.Sealed:
		return t.x.KeepAs(core.RedactedReasoning, redactedRow, nil)
	case core.Encrypted:
		return t.x.KeepAs(core.EncryptedReasoning, encryptedRow, nil)
	default:
		return len(thought.Text) > 0 && t.x.KeepAs(core.UnsignedReasoning, sealedRow, nil)
	}
}

// calls are the calls of the last turn of the model that had any.
type calls struct {
	run  int
	list []call
	keys map[callKey]*queue
}

// call is a call. Its strings are escaped.
type call struct {
	id       []byte // what the provider gets
	name     []byte
	response []byte // nil for none
}

// callKey is what calls are found by: the client's id; or the name, of calls with an id of the
// client or without.
type callKey struct {
	by   keyKind
	text string
}

type keyKind uint8

const (
	byID keyKind = iota
	byName
	byNameAlone
)

// queue is the calls with one key, in their order.
type queue struct {
	waiting []int // without a response
	last    int   // the first of them that had one
}

// add adds a call of a turn. Calls without an id of their own get one that is the same whenever
// the conversation is sent, as the caches of providers require.
func (c *calls) add(run int, id, name []byte, content, part int) *call {
	if c.run != run {
		*c = calls{run: run, keys: make(map[callKey]*queue)}
	}
	own, names := id, callKey{byName, string(name)}
	if len(id) == 0 {
		names.by = byNameAlone
	}
	if len(id) == 0 || c.keys[callKey{byID, string(id)}] != nil {
		own = fmt.Appendf(nil, "gwp_%d_%d", content, part)
	}
	for _, key := range [...]callKey{{byID, string(id)}, names} {
		if c.keys[key] == nil {
			c.keys[key] = new(queue)
		}
		c.keys[key].waiting = append(c.keys[key].waiting, len(c.list))
	}
	c.list = append(c.list, call{id: own, name: name})
	return &c.list[len(c.list)-1]
}

// answered returns the call that a result answers: by its id, or else the first without a
// result that has the name. A call that has a result is returned only by its id.
func (c *calls) answered(id, name []byte) *call {
	if q := c.keys[callKey{byID, string(id)}]; q != nil && len(id) > 0 {
		if next := c.next(q); next != nil {
			return next
		}
		return &c.list[q.last]
	}
	if next := c.next(c.keys[callKey{byNameAlone, string(name)}]); next != nil {
		return next
	}
	return c.next(c.keys[callKey{byName, string(name)}])
}

// next returns the first call of a queue without a response, nil for none.
func (c *calls) next(q *queue) *call {
	for q != nil && len(q.waiting) > 0 {
		first := q.waiting[0]
		if c.list[first].response == nil {
			return &c.list[first]
		}
		q.waiting, q.last = q.waiting[1:], first
	}
	return nil
}
