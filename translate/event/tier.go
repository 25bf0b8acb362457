package event

// Tier is the service tier that an answer was made with, in words that all
// formats share.
type Tier uint8

// The tiers.
const (
	TierUnknown  Tier = iota // not stated, or one that the client's format has no word for
	TierStandard             // default, in the chat format
	TierPriority
)
