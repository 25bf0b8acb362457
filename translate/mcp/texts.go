package mcp

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// kept are the members of parameters and results that the protocol itself reads, or that only the server
// understands: an edit would make another message of them.
var kept = map[string]bool{
	"_meta": true, "cursor": true, "nextCursor": true, "requestState": true, "resultType": true, "cacheScope": true, "protocolVersion": true,
}

// coded are the members of contents that are no texts: images, sound and files, and what they are.
var coded = map[string]bool{"data": true, "blob": true, "mimeType": true, "type": true}

// Texts returns the strings in the parameters of a message, without the name of what it uses.
func (m *Message) Texts(body []byte) []translate.Span {
	return textsOf(body, methods[m.Method].member, "params", "result", "error")
}

// AnswerTexts returns the strings in a message of a server.
func AnswerTexts(body []byte) []translate.Span { return textsOf(body, "", "params", "result", "error") }

// textsOf returns the strings in members of a valid message, without those of one name and those that are
// kept.
func textsOf(body []byte, omitted string, members ...string) (all []translate.Span) {
	c := jsonscan.Again(body)
	for c.OpenObject(); c.Member(); {
		name, isText := string(c.Name()), false
		for _, member := range members {
			isText = isText || name == member
		}
		if !isText || c.Kind() != jsonscan.Object {
			c.Skip()
			continue
		}
		for c.EnterObject(); c.Member(); {
			if inner := string(c.Name()); kept[inner] || inner == omitted {
				c.Skip()
			} else {
				all = appendTexts(all, &c, inner == "content" || inner == "contents" || inner == "messages")
			}
		}
	}
	return all
}

// appendTexts appends the strings in the value at the cursor. inContent reports whether the value is of
// contents as the protocol defines them.
func appendTexts(all []translate.Span, c *jsonscan.Cursor, inContent bool) []translate.Span {
	switch c.Kind() {
	case jsonscan.String:
		_, slot := c.SkipAt()
		return append(all, translate.Span{Start: slot.Start, End: slot.End})
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); {
			if inContent && coded[string(c.Name())] {
				c.Skip()
			} else {
				all = appendTexts(all, c, inContent)
			}
		}
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); {
			all = appendTexts(all, c, inContent)
		}
	default:
		c.Skip()
	}
	return all
}
