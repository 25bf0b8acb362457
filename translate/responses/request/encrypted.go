package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Encrypted returns the reasoning items of a valid body that have encrypted content. The body
// is valid without them.
func Encrypted(body []byte) (spans []translate.Span) {
	c := jsonscan.Again(body)
	for c.EnterObject(); c.Member(); {
		if string(c.Name()) != "input" || c.Kind() != jsonscan.Array {
			c.Skip()
			continue
		}
		cuts := strict.Cutter{Spans: &spans}
		for c.EnterArray(); c.Element(); {
			span := translate.Span{Start: c.Offset()}
			encrypted := isEncrypted(c.Skip())
			span.End = c.Offset()
			cuts.Element(span, encrypted)
		}
		if cuts.All() {
			cuts.CutAll()
		}
	}
	return spans
}

// isEncrypted reports whether an item is reasoning with encrypted content.
func isEncrypted(item []byte) bool {
	var kind, content []byte
	for name, value := range jsonscan.Members(item) {
		switch string(name) {
		case "type":
			kind = value
		case "encrypted_content":
			content = value
		}
	}
	return string(kind) == `"reasoning"` && !jsonscan.Blank(content)
}
