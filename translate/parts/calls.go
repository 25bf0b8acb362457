package parts

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// Calls writes the calls of tools in the chat and responses formats: with ids that the
// provider accepts, and with arguments that are a text.
type Calls struct{ scratch []byte }

// AppendID appends the provider's id of a call, made from the client's id. Both are
// escaped.
func (w *Calls) AppendID(dst, id []byte) []byte {
	if !jsonscan.HasEscapes(id) && !bytes.HasPrefix(id, []byte("gwid1_")) {
		return append(dst, id...)
	}
	w.scratch = jsonscan.AppendUnescaped(w.scratch[:0], id)
	return jsonscan.AppendEscaped(dst, toolcall.AppendOriginalID(nil, w.scratch))
}

// AppendArguments appends the arguments of a call as an escaped text.
func (w *Calls) AppendArguments(dst []byte, c *core.Call) []byte {
	switch {
	case c.Input != nil:
		w.scratch = jsonscan.AppendCompact(w.scratch[:0], c.Input)
		return jsonscan.AppendEscaped(dst, w.scratch)
	case len(c.Text) > 0:
		return append(dst, c.Text...)
	default:
		return append(dst, "{}"...)
	}
}

// Size returns the size of the memory that w keeps, in bytes.
func (w *Calls) Size() int { return cap(w.scratch) }
