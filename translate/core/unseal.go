package core

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// IsEncrypted reports whether the signature of reasoning is what a provider of the
// responses format has encrypted, as this gateway showed it to clients of other formats.
func (t *Thought) IsEncrypted() bool { return bytes.HasPrefix(t.Signature, []byte(seal.Item)) }

// Unseal opens the signature of such reasoning. It reports false where this gateway did
// not seal it for the same provider and tenant.
func (x *Translation) Unseal(t *Thought) (ok bool) {
	text := t.Signature
	if jsonscan.HasEscapes(text) {
		text = jsonscan.AppendUnescaped(nil, text)
	}
	t.From, t.Signature = Encrypted, nil
	t.Encrypted, ok = x.Info.Seals.Open(seal.Item, text)
	return ok || x.listening
}
