package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// Tiers are the values of service_tier in answers of the chat, completions and responses
// formats.
var Tiers = event.TierWords{event.TierStandard: "default", event.TierPriority: "priority"}
