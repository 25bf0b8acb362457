package event

import "cmp"

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
