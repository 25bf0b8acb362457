package format

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Embeddings translates requests for embeddings for providers of OpenAI's endpoint. Its functions are nil
// for a format whose requests for them are those of OpenAI, or that has none.
type Embeddings struct {
	// Request appends the request to a provider. The body has passed Inspect.
	Request func(dst, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault)
	// Answer appends the answer to a request with the operation. The usage is that of the answer of the
	// provider.
	Answer func(dst, answer []byte, op translate.Operation, used token.Usage) ([]byte, *fault.Fault)
}
