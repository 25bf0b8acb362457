package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// heading is an envelope with what only a translated answer repeats.
type heading struct {
	envelope
	created int64
	service []byte // the service tier, as it is written
	padding Slot
}

func (h *heading) member(c *jsonscan.Cursor, choice func()) {
	switch string(c.Name()) {
	case "created":
		h.created = Count(c)
	case "service_tier":
		h.service = rawText(c)
	case "obfuscation":
		_, h.padding = SlotText(c)
	case "type":
		h.isError = string(rawText(c)) == `"error"` || h.isError
	default:
		h.envelope.member(c, choice)
	}
}

func (h *heading) tier() translate.Tier {
	if h.service == nil {
		return translate.TierUnknown
	}
	return translate.ReadChoicesTier(string(jsonscan.AppendText(nil, h.service)))
}
