package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// attribution begins the text with which Claude Code attributes a request to itself.
var attribution = []byte("x-anthropic-billing-header:")

// isAttribution reports whether a raw block of a system text is only the line with which
// a coding agent attributes the request to itself. It is not meant for the model, and
// changes from one request to the next, so that no two requests begin alike.
func isAttribution(block []byte) bool {
	return bytes.HasPrefix(jsonscan.Inner(member(block, "text")), attribution)
}

// Attribution returns the span to cut out of a valid body in order to remove the
// attribution at the beginning of its system text, with the comma behind it; an empty
// span if there is none.
func Attribution(body []byte) translate.Span {
	c := jsonscan.Again(body)
	for c.OpenObject(); c.Member(); c.Skip() {
		if string(c.Name()) == "system" {
			return firstBlock(&c)
		}
	}
	return translate.Span{}
}

// firstBlock returns the span of the first block at the cursor if it is an attribution.
func firstBlock(c *jsonscan.Cursor) (cut translate.Span) {
	if !c.EnterArray() || !c.Element() {
		return cut
	}
	start := c.Offset()
	attributes := isAttribution(c.Skip())
	end := c.Offset()
	if !attributes {
		return cut
	}
	if c.Element() {
		end = c.Offset()
	}
	return translate.Span{Start: start, End: end}
}
