package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// heading is an envelope with what only a translated answer repeats.
type heading struct {
	envelope
	created int64
	service []byte // the service tier, as it is written
}

// member reads the member at the cursor, unless it is none that is known. What
// only names the answer and its making is known: an answer that is translated
// has an id of its own, and a fingerprint of another system's would mean nothing.
func (h *heading) member(c *jsonscan.Cursor, choice func()) (known bool) {
	switch string(c.Name()) {
	case "id", "system_fingerprint":
		c.Skip()
	case "created":
		h.created = Count(c)
	case "service_tier":
		h.service = c.StringOrSkip()
	case "type":
		h.isError = string(c.StringOrSkip()) == `"error"` || h.isError
	default:
		return h.envelope.member(c, choice)
	}
	return true
}

func (h *heading) tier() event.Tier {
	if h.service == nil {
		return event.TierUnknown
	}
	return ReadTier(string(jsonscan.AppendText(nil, h.service)))
}
