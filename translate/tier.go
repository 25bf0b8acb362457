package translate

// Tier is the service tier that an answer was made with, in words that all
// formats share.
type Tier uint8

// The tiers.
const (
	TierUnknown  Tier = iota // not stated, or one that the client's format has no word for
	TierStandard             // default, in the chat format
	TierPriority
)

// ReadChoicesTier reads the service_tier of chat and completions answers.
func ReadChoicesTier(word string) Tier {
	switch word {
	case "default":
		return TierStandard
	case "priority", "fast":
		return TierPriority
	default:
		return TierUnknown
	}
}

// ReadMessagesTier reads the service_tier of messages answers.
func ReadMessagesTier(word string) Tier {
	switch word {
	case "standard":
		return TierStandard
	case "priority":
		return TierPriority
	default:
		return TierUnknown
	}
}

// Messages is the tier's word in messages answers, "" for none.
func (t Tier) Messages() string {
	switch t {
	case TierStandard:
		return "standard"
	case TierPriority:
		return "priority"
	default:
		return ""
	}
}

// Choices is the tier's word in chat answers, "" for none.
func (t Tier) Choices() string {
	switch t {
	case TierStandard:
		return "default"
	case TierPriority:
		return "priority"
	default:
		return ""
	}
}
