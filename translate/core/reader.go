package core

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Reader reads the requests of one format.
type Reader interface {
	// Read reads a body that has passed the strict pass of the format: it fills the
	// Options and calls the writer for the conversation and the tools.
	Read(body []byte, x *Translation, w Writer) error
	// Forget drops all references to the body.
	Forget()
}

// EnterList enters the array at the cursor, in front of its first element. Any other
// value counts as an empty array. list is the path from the element at the reader's
// place to the array.
//
//	for x.EnterList(c, "tools"); x.NextElement(c); { ... }
func (x *Translation) EnterList(c *jsonscan.Cursor, list string) {
	c.OpenArray()
	x.At.Enter(list)
}

// NextElement moves to the next element of the array and reports whether there is one;
// otherwise it leaves the array. It stops early if the request is refused.
func (x *Translation) NextElement(c *jsonscan.Cursor) bool {
	for c.Element() {
		if x.fault == nil {
			x.At.Next()
			return true
		}
		c.Skip()
	}
	x.At.Leave()
	return false
}

// IsEncrypted reports whether the signature contains reasoning encrypted by a provider
// of the responses format, in the form that this gateway sends to clients of other
// formats.
func (t *Thought) IsEncrypted() bool { return bytes.HasPrefix(t.Signature, []byte(seal.Item)) }

// Unseal decrypts such a signature. It reports false if this gateway did not seal the
// signature for the same provider and tenant.
func (x *Translation) Unseal(t *Thought) (ok bool) {
	text := t.Signature
	if jsonscan.HasEscapes(text) {
		text = jsonscan.AppendUnescaped(nil, text)
	}
	t.Origin, t.Signature = Encrypted, nil
	t.Encrypted, ok = x.Info.Seals.Open(seal.Item, text)
	return ok || x.witness != nil
}
