package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// ReadTier reads the service_tier of messages answers.
func ReadTier(word string) event.Tier {
	switch word {
	case "standard":
		return event.TierStandard
	case "priority":
		return event.TierPriority
	default:
		return event.TierUnknown
	}
}

// TierWord returns the service_tier of messages answers for a tier, "" for none.
func TierWord(t event.Tier) string {
	switch t {
	case event.TierStandard:
		return "standard"
	case event.TierPriority:
		return "priority"
	default:
		return ""
	}
}
