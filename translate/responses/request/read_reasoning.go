package request

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// reasoning keeps the reasoning of an item until the next item is known: the block of
// another format that this gateway sealed, or an unsigned text.
func (r *requestReader) reasoning() {
	if !r.x.Keep(core.Reasoning, nil) {
		if len(r.item.Word("encrypted_content")) > 0 { // more than the summary that is reported
			r.x.Lose(foreignSealRow, nil)
		}
		return
	}
	thought, ok := r.unsealed()
	if !ok {
		thought = core.Thought{Text: r.thoughtText()}
		ok = len(thought.Text) > 0 && r.x.Keep(core.UnsignedReasoning, nil)
	}
	if ok {
		r.turn.thoughts = append(r.turn.thoughts, placed[core.Thought]{r.x.At, thought})
	}
}

// unsealed returns the block of another format that this gateway sealed for the same
// provider and tenant, if the writer gets it. What others have encrypted is lost.
func (r *requestReader) unsealed() (t core.Thought, ok bool) {
	sealed := r.item.Word("encrypted_content")
	if len(sealed) == 0 {
		r.loseStray("encrypted_content")
		return t, false
	}
	payload, ok := r.x.Info.Seals.Open(seal.Block, sealed)
	if ok {
		t, ok = thoughtOf(payload)
	}
	switch {
	case !ok:
		r.x.Lose(foreignSealRow, nil)
		return t, false
	case t.From == core.Sealed:
		return t, r.x.Keep(core.RedactedReasoning, nil)
	case t.From == core.SelfSigned:
		return t, r.x.Keep(core.SelfSignedReasoning, nil)
	case t.From == core.Signed && !r.x.Keep(core.Signature, nil):
		t.From, t.Signature = core.Unsigned, nil
	}
	return t, t.From != core.Unsigned || r.x.Keep(core.UnsignedReasoning, nil)
}

// The members of a sealed block.
const (
	blockThinking = iota
	blockSignature
	blockData
)

// thoughtOf reads a block that was sealed: one of the messages format.
func thoughtOf(payload []byte) (t core.Thought, ok bool) {
	block, err := base64.RawURLEncoding.AppendDecode(nil, payload)
	if err != nil {
		return t, false
	}
	var values [3][]byte
	for name, value := range jsonscan.Members(block) {
		switch string(name) {
		case "thinking":
			values[blockThinking] = jsonscan.Inner(value)
		case "signature":
			values[blockSignature] = jsonscan.Inner(value)
		case "data":
			values[blockData] = jsonscan.Inner(value)
		}
	}
	t = core.Thought{Text: values[blockThinking], Signature: values[blockSignature], Sealed: values[blockData]}
	switch {
	case t.Sealed != nil:
		t.From = core.Sealed
	case bytes.HasPrefix(t.Signature, []byte(seal.SelfSigned)):
		t.From = core.SelfSigned
	case len(t.Signature) > 0:
		t.From = core.Signed
	}
	return t, len(t.Sealed)+len(t.Signature)+len(t.Text) > 0
}

// thoughtText returns the summary, or else the reasoning itself, as one text.
func (r *requestReader) thoughtText() []byte {
	if text := r.joined("summary"); text != nil {
		r.loseStray("content")
		return text
	}
	return r.joined("content")
}

// loseStray reports a member that is left out beside another, or for its kind.
func (r *requestReader) loseStray(member string) {
	if !jsonscan.Blank(r.item.Raw(member)) {
		r.x.LoseMember("", []byte(member))
	}
}

// joined returns the texts of an array of parts, with blank lines between them.
func (r *requestReader) joined(member string) (all []byte) {
	raw := r.item.Raw(member)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	for r.elements(raw, member); r.element(partShapes); {
		r.part.LoseOthers(r.x, thoughtShape)
		switch text := r.part.Text("text"); {
		case len(text) == 0:
		case all == nil:
			all = slices.Clip(text) // what is appended must not overwrite the body
		default:
			all = append(append(all, parts.BlankLine...), text...)
		}
	}
	return all
}
