package core

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

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
	t.From, t.Signature = Encrypted, nil
	t.Encrypted, ok = x.Info.Seals.Open(seal.Item, text)
	return ok || x.listening
}
