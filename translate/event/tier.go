package event

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Tier is the service tier of an answer, in the words of no format.
type Tier uint8

// The tiers.
const (
	TierUnknown  Tier = iota // not stated, or unknown
	TierStandard             // "default" in the chat format
	TierPriority
)

// TierWords are the words of a format for the service tiers, by tier; "" is unknown.
type TierWords [TierPriority + 1]string

// Read returns the tier of a raw string, TierUnknown for other words and other values.
// Some servers have fast for priority.
func (w *TierWords) Read(raw []byte) Tier {
	switch word := string(jsonscan.DecodedOf(raw)); word {
	case "":
	case w[TierStandard]:
		return TierStandard
	case w[TierPriority], "fast":
		return TierPriority
	}
	return TierUnknown
}
