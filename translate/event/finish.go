package event

// The tables of finish reasons (wire format C.4). A word that nobody knows is
// FinishUnknown and never an error, since the sets are open.

// FinishReason is why a turn ended, in words that all formats share.
type FinishReason uint8

// The finish reasons. Each format has the tables from and to its own words.
const (
	FinishUnknown  FinishReason = iota // not stated, or a word nobody knows
	FinishStop                         // the end of the turn, or a stop sequence when Event.Stop tells one
	FinishLength                       // the token limit, or the context window
	FinishTools                        // tool calls wait for their results
	FinishFiltered                     // the provider refused, or filtered the answer
	FinishRefused                      // the model refused, in texts that are marked as a refusal
	FinishPaused                       // a long turn was paused and may be continued
)
