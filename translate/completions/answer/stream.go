package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return openai.NewObserver(content) }

// content reads a member of a choice.
func content(c *jsonscan.Cursor, texts *openai.Texts) (found bool) {
	if string(c.Name()) != "text" {
		c.Skip()
		return false
	}
	return texts.Read(c)
}
