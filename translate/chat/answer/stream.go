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
// member is content: neither null nor false, nor an empty string, array or object.
func addTexts(choice *members.Values, m members.Member, raw []byte, texts *openai.Texts) bool {
	isText := m == messageContent || raw[0] == '"' && m != messageAudio
	for name, at := range choice.Scalars(m) {
		switch scalar := choice.Slice(at); {
		case scalar[0] != '"':
			texts.Number = at
		case name == nil && isText || textNames.Index(name) >= 0:
			texts.Add(scalar, at)
		}
	}
	return !jsonscan.Blank(raw) && string(raw) != "false"
}
