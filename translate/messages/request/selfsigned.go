package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// selfSigned reports whether the block is thinking that no messages provider signed: it
// has a signature of this gateway, or a sealed one of another format.
func (b *block) selfSigned() bool {
	if b.Type() != "thinking" || b.thinking == nil {
		return false
	}
	return seal.IsOwn(jsonscan.Inner(b.thinking), jsonscan.Inner(b.signature))
}
