package event

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tier is the service tier of an answer, in the words of no format.
type Tier uint8

// The tiers.
const (
	TierUnknown  Tier = iota // not stated, or unknown
	TierStandard             // "default" in the chat format
	TierPriority
	TierFlex
	TierScale
	TierUltrafast
	TierReserved
	TierBatch
)

// TierWords are the words of a format for the service tiers, by tier. A tier without a word has no
// place in its answers.
type TierWords [TierBatch + 1]string

// tiers lists the words of all formats for service tiers.
var tiers = map[string]Tier{
	"default": TierStandard, "standard": TierStandard, "priority": TierPriority, "fast": TierPriority, "flex": TierFlex,
	"scale": TierScale, "ultrafast": TierUltrafast, "reserved": TierReserved, "batch": TierBatch,
}

var names = func() (words TierWords) {
	for word, tier := range tiers {
		if word != "fast" && word != "default" {
			words[tier] = word
		}
	}
	return words
}()

// String returns the name of the tier, "" for TierUnknown.
func (t Tier) String() string { return names[t] }

// ReadTier returns the tier of a raw string. lost is the plain word of a tier that no format has,
// nil for no word and for the choice of the service.
func ReadTier(raw []byte) (tier Tier, lost []byte) {
	word := jsonscan.DecodedOf(raw)
	if tier = tiers[string(word)]; tier != TierUnknown { // nearly always, without an allocation
		return tier, nil
	}
	word = bytes.ToLower(word)
	tier = tiers[string(word)]
	if tier != TierUnknown || len(word) == 0 || string(word) == "auto" || bytes.HasSuffix(word, []byte("unspecified")) {
		return tier, nil
	}
	return tier, word
}
