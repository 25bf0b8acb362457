package request

import (
	"bytes"
	"encoding/base64"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sealed returns the sealed text in the decoded signature of a part, which clients may have
// encoded in either alphabet of base64. ok is false for signatures that are no seal of this
// gateway: those of models of the format, and those that clients make up.
func sealed(signature []byte) (text []byte, ok bool) {
	if !bytes.HasPrefix(signature, []byte("Z3d")) { // "gw" in base64, which few begin with
		return nil, false
	}
	plain := bytes.TrimRight(bytes.Clone(signature), "=")
	for i, b := range plain {
		switch b {
		case '-':
			plain[i] = '+'
		case '_':
			plain[i] = '/'
		}
	}
	text, err := base64.RawStdEncoding.Strict().AppendDecode(nil, plain)
	return text, err == nil && (bytes.HasPrefix(text, []byte(seal.Block)) || bytes.HasPrefix(text, []byte(seal.Item)))
}

// unsealed returns the reasoning in the decoded signature of a part, as the emitter of the
// format has sealed it. ok is false if it was not sealed for the same provider and tenant.
func unsealed(seals *seal.Sealer, signature []byte) (thoughts []core.Thought, ok bool) {
	text, ok := sealed(signature)
	if !ok {
		return nil, false
	}
	blocks, ofItem := seals.Open(seal.Item, text)
	if !ofItem {
		if blocks, ok = seals.Open(seal.Block, text); !ok {
			return nil, false
		}
	}
	c := jsonscan.Again(blocks)
	for c.OpenArray(); c.Element(); {
		t := core.ReadThought(c.Skip())
		switch {
		case t.Sealed != nil:
			t.Origin = core.Sealed
		case t.Signature != nil && ofItem:
			t.Origin, t.Encrypted, t.Signature = core.Encrypted, jsonscan.AppendUnescaped(nil, t.Signature), nil
		case t.Signature != nil:
			t.Origin = core.Signed
		}
		thoughts = append(thoughts, t)
	}
	return thoughts, true
}
