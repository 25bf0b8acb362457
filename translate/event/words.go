package event

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FinishReason is the reason why a turn ended, in the words of no format (wire
// format C.4). An unknown word of a provider is FinishUnknown, never an error: the
// sets of words are open.
type FinishReason uint8

// The finish reasons. Each format has the tables from and to its own words.
const (
	FinishUnknown  FinishReason = iota // not stated, or an unknown word
	FinishStop                         // the end of the turn, or the stop sequence Event.Stop
	FinishLength                       // the token limit, or the context window
	FinishTools                        // tool calls wait for their results
	FinishFiltered                     // the provider refused, or filtered the answer
	FinishRefused                      // the model refused, in texts that are marked as a refusal
	FinishPaused                       // a long turn was paused and may be continued
)

// ReasonWords are the words of a format for the finish reasons, by reason. Without a word of
// its own, a paused turn has that of FinishLength, a refusal that of FinishFiltered, and any
// other reason that of FinishStop.
type ReasonWords [FinishPaused + 1]string

// Of returns the word for a reason. calls reports whether the turn has tool calls, which take
// precedence over an end that is neither FinishLength nor a refusal: several servers report an
// ordinary end of a turn with calls, and some report calls that there are none of.
func (w *ReasonWords) Of(r FinishReason, calls bool) string {
	switch r {
	case FinishLength:
		return w[FinishLength]
	case FinishFiltered, FinishRefused:
		return cmp.Or(w[r], w[FinishFiltered])
	}
	switch {
	case calls:
		return w[FinishTools]
	case r == FinishPaused:
		return cmp.Or(w[r], w[FinishLength])
	}
	return w[FinishStop]
}

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
