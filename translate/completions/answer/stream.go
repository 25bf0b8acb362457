package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return choices.NewObserver(content) }

// content reads a member of a choice.
func content(c *jsonscan.Cursor, texts *choices.Texts) (found bool) {
	if string(c.Name()) != "text" {
		c.Skip()
		return false
	}
	return texts.Read(c)
}
