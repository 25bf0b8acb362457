package event

// Tier is the service tier of an answer, in the words of no format.
type Tier uint8

// The tiers.
const (
	TierUnknown  Tier = iota // not stated, or unknown
	TierStandard             // "default" in the chat format
	TierPriority
)
