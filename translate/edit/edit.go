package edit

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// Edit replaces a span of a body, or of the data of an event.
type Edit struct {
	translate.Span
	With []byte
}

// Apply appends the edited body. Edits are in the order of the body and do not overlap.
func Apply(dst, body []byte, edits []Edit) []byte {
	pos := 0
	for _, e := range edits {
		dst = append(append(dst, body[pos:e.Start]...), e.With...)
		pos = e.End
	}
	return append(dst, body[pos:]...)
}
