package event

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
