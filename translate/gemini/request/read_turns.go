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
	switch thought.Origin {
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
	keys map[callKey][]int // in the list, from the first that may have no response; the last one stays
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
	kind keyKind
	text string
}

type keyKind uint8

const (
	byID keyKind = iota
	byName
	byNameAlone
)

// add adds a call of a turn. Calls without an id of their own get one that is the same whenever
// the conversation is sent, as the caches of providers require.
func (c *calls) add(run int, id, name []byte, content, part int) *call {
	if c.run != run {
		c.run, c.list, c.keys = run, c.list[:0], make(map[callKey][]int)
	}
	own, ids, names := id, callKey{byID, string(id)}, callKey{byName, string(name)}
	if len(id) == 0 {
		names.kind = byNameAlone
	}
	if len(id) == 0 || c.keys[ids] != nil {
		own = fmt.Appendf(nil, "gwp_%d_%d", content, part)
	}
	number := len(c.list)
	c.list = append(c.list, call{id: own, name: name})
	c.keys[ids], c.keys[names] = append(c.keys[ids], number), append(c.keys[names], number)
	return &c.list[number]
}

// answered returns the call that a result answers: by its id, or else the first without a
// result that has the name. A call that has a result is returned only by its id.
func (c *calls) answered(id, name []byte) *call {
	if ids := (callKey{byID, string(id)}); len(id) > 0 && c.keys[ids] != nil {
		first := &c.list[c.keys[ids][0]]
		return cmp.Or(c.next(ids), first)
	}
	return cmp.Or(c.next(callKey{byNameAlone, string(name)}), c.next(callKey{byName, string(name)}))
}

// next returns the first call with a key that has no response, nil for none.
func (c *calls) next(key callKey) *call {
	for numbers := c.keys[key]; len(numbers) > 0; numbers = numbers[1:] {
		c.keys[key] = numbers
		if found := &c.list[numbers[0]]; found.response == nil {
			return found
		}
	}
	return nil
}
