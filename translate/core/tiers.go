package core

// tierWords are the words for service tiers in OpenAI's formats.
var tierWords = map[Concept]string{TierAuto: "auto", TierStandard: "default", TierFlex: "flex", TierPriority: "priority"}

// TierWord returns the word for a service tier in OpenAI's formats.
func TierWord(c Concept) string { return tierWords[c] }
