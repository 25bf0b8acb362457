package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// Tiers are the values of service_tier in answers of the messages format.
var Tiers = event.TierWords{event.TierStandard: "standard", event.TierPriority: "priority"}
