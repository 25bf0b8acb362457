package event

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
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
	"default": TierStandard, "standard": TierStandard, "on_demand": TierStandard, // on_demand of Groq
	"priority": TierPriority, "fast": TierPriority, "flex": TierFlex, "scale": TierScale, "ultrafast": TierUltrafast,
	"reserved": TierReserved, "batch": TierBatch,
}

var names = TierWords{
	TierStandard: "standard", TierPriority: "priority", TierFlex: "flex", TierScale: "scale",
	TierUltrafast: "ultrafast", TierReserved: "reserved", TierBatch: "batch",
}

// String returns the name of the tier, "" for TierUnknown.
func (t Tier) String() string { return names[t] }

// ReadTier returns the tier of a raw string at a path. It reports the plain word of a tier that no
// format has as dropped, unless that leaves the choice to the service.
func ReadTier(raw []byte, path string, dropped *translate.Dropped) Tier {
	word := jsonscan.DecodedOf(raw)
	if tier := tiers[string(word)]; tier != TierUnknown { // nearly always, without an allocation
		return tier
	}
	word = bytes.ToLower(word)
	tier := tiers[string(word)]
	if tier == TierUnknown && len(word) > 0 && string(word) != "auto" && !bytes.HasSuffix(word, []byte("unspecified")) {
		dropped.DropNamed(path+"=", word)
	}
	return tier
}
