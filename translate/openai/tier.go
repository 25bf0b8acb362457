package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// ReadTier reads the service_tier of chat and completions answers.
func ReadTier(word string) event.Tier {
	switch word {
	case "default":
		return event.TierStandard
	case "priority", "fast":
		return event.TierPriority
	default:
		return event.TierUnknown
	}
}

// TierWord returns the service_tier of chat answers for a tier, "" for none.
func TierWord(t event.Tier) string {
	switch t {
	case event.TierStandard:
		return "default"
	case event.TierPriority:
		return "priority"
	default:
		return ""
	}
}
