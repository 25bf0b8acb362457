package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(choices, hasText) }

// hasText reports whether a choice has a text that is not empty, and adds the text.
func hasText(choice *members.Values, texts *openai.Texts) bool {
	return texts.Add(choice.Raw(choiceText), choice.At(choiceText))
}
