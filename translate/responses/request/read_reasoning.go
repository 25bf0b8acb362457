package request

import (
	"bytes"
	"encoding/base64"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// readReasoning returns the reasoning of the item: a block of another format that this
// gateway sealed for the same provider and tenant, or else an unsigned text. ok is false
// if the writer does not get it. What others have encrypted is lost.
func (r *requestReader) readReasoning() (t core.Thought, ok bool) {
	x, sealed := r.x, r.item.Word("encrypted_content")
	if len(sealed) > 0 {
		t, ok = unsealed(x, sealed)
	}
	if own := ok && t.Origin == core.Signed && x.Can(core.Signature); !own && !x.Keep(core.Reasoning, nil) {
		if len(sealed) > 0 { // more than the summary that is reported
			x.Lose(foreignSealRow, nil)
		}
		return t, false
	}
	switch {
	case len(sealed) == 0:
		r.item.LoseMembers(x, "encrypted_content")
	case !ok:
		x.Lose(foreignSealRow, nil)
	}
	switch {
	case !ok:
	case x.Keep(t.Concept(), nil):
		return t, true
	case t.Origin == core.Signed && x.Keep(core.UnsignedReasoning, nil): // the text alone
		t.Origin, t.Signature = core.Unsigned, nil
		return t, true
	}
	text := r.joined("summary")
	if text == nil {
		text = r.joined("content")
	} else {
		r.item.LoseMembers(x, "content")
	}
	return core.Thought{Text: text}, len(text) > 0 && x.Keep(core.UnsignedReasoning, nil)
}

// unsealed returns the block of the messages format that was sealed.
func unsealed(x *core.Translation, sealed []byte) (t core.Thought, ok bool) {
	payload, ok := x.Info.Seals.Open(seal.Block, sealed)
	if !ok {
		return t, false
	}
	block, err := base64.RawURLEncoding.AppendDecode(nil, payload)
	if err != nil {
		return t, false
	}
	t = core.ReadThought(block)
	switch {
	case t.Sealed != nil:
		t.Origin = core.Sealed
	case bytes.HasPrefix(t.Signature, []byte(seal.SelfSigned)):
		t.Origin = core.SelfSigned
	case len(t.Signature) > 0:
		t.Origin = core.Signed
	}
	return t, len(t.Sealed)+len(t.Signature)+len(t.Text) > 0
}

// joined returns the texts of an array of parts, with blank lines between them.
func (r *requestReader) joined(member string) (all []byte) {
	raw := r.item.Raw(member)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	c := jsonscan.Again(raw)
	for r.x.EnterList(&c, member); r.x.NextElement(&c); {
		r.part.Read(r.x, &c, thoughtMembers, "")
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
