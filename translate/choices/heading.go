package choices

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// heading is an envelope with the members that only a translated answer repeats.
type heading struct {
	envelope
	created int64
	service []byte // the service tier, raw
}

// member reads the member at the cursor, and reports whether its name is known. Ids and
// fingerprints are known and ignored: a translated answer has an id of its own, and the
// fingerprint of another system means nothing to its client.
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
