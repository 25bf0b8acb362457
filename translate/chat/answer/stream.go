package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(choices, hasContent) }

// textNames are the members inside of content, calls, sound and thinking whose strings are
// text. The others are ids, names, types, signatures and sound.
var textNames = shape.NewNames("content", "refusal", "arguments", "input", "text", "thinking", "transcript")

// hasContent reports whether a choice has content that is not empty, and adds its texts.
// Servers that send reasoning in several members repeat it in each, so only the texts of the
// first one count.
func hasContent(choice *members.Values, texts *openai.Texts) (found bool) {
	for _, m := range [...]members.Member{messageContent, messageRefusal, messageCalls, messageCall, messageAudio} {
		if raw := choice.Raw(m); raw != nil {
			found = addTexts(choice, m, raw, texts) || found
		}
	}
	var repeated openai.Texts
	before, into := texts.Len(), texts
	for _, m := range [...]members.Member{messageReasoning, messageReasoningToo, messageThinking} {
		if raw := choice.Raw(m); raw != nil {
			found = addTexts(choice, m, raw, into) || found
		}
		if texts.Len() > before {
			into = &repeated
		}
	}
	return found
}

// addTexts adds the texts of a member of a message with a raw value, and reports whether the
// member is content.
func addTexts(choice *members.Values, m members.Member, raw []byte, texts *openai.Texts) bool {
	if raw[0] == '"' && m != messageAudio {
		return texts.Add(raw, choice.At(m))
	}
	c := choice.Cursor(m)
	return readTexts(&c, m == messageContent, texts)
}

// readTexts consumes a value, whose strings are text or not, and adds the texts in it. It
// reports whether the value is content: neither null nor false, nor an empty string, array or
// object.
func readTexts(c *jsonscan.Cursor, isText bool, texts *openai.Texts) (found bool) {
	switch c.Kind() {
	case jsonscan.String:
		if isText {
			return texts.Read(c)
		}
		return len(c.StringOrSkip()) > len(`""`)
	case jsonscan.Array:
		for c.EnterArray(); c.Element(); found = true {
			readTexts(c, isText, texts)
		}
	case jsonscan.Object:
		for c.EnterObject(); c.Member(); found = true {
			readTexts(c, textNames.Index(c.Name()) >= 0, texts)
		}
	default:
		raw := c.Skip()
		found = raw != nil && string(raw) != "null" && string(raw) != "false"
	}
	return found
}
