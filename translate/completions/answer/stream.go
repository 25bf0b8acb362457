package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return choices.NewObserver(content) }

// content reads a member of a choice.
func content(c *jsonscan.Cursor) (found bool, text jsonscan.Slot) {
	if string(c.Name()) != "text" {
		c.Skip()
		return false, text
	}
	raw, text := choices.StringWithSlot(c)
	return len(raw) > len(`""`), text
}
