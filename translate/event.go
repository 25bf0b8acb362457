package translate

// EventKind names a core event: the format-neutral step of an answer, streamed
// or not. Every translation of an answer goes parser → core events → emitter,
// and a JSON answer takes the same way as a stream, so the two cannot drift.
type EventKind uint8

// The core events (wire format D.2).
const (
	EventStart        EventKind = iota // Model, Created, Tier, Usage as far as known
	EventText                          // Text, non-empty; Refusal marks a refusal's text
	EventTextEnd                       // one text is over; the next one is another
	EventSource                        // Source: what the text before it cites
	EventReasoning                     // Text, non-empty
	EventSignature                     // Text, Origin: the signature of the reasoning before it
	EventRedacted                      // Text: the data of redacted reasoning
	EventReasoningEnd                  // one thinking block is over
	EventToolStart                     // Tool, ID, Name, Custom
	EventToolArgs                      // Tool, Text: a non-empty fragment of the arguments
	EventToolEnd                       // Tool
	EventLogprobs                      // Logprobs: raw JSON of the chat format's content list, for the text before it
	EventFinish                        // Finish, Stop; Text: why the provider refused, where it says so
	EventUsage                         // Usage, Tier: the full record so far; the last one wins
	EventError                         // Fault
	EventEnd                           // the end, clean; a truncated answer has none
)

// Event is one core event. Its byte slices are valid only while the emitter
// handles it.
type Event struct {
	Kind     EventKind
	Choice   int // from EventText to EventFinish: which answer it belongs to
	Tool     int // ordinal of the call within its choice, 0, 1, … in order of first sight
	Refusal  bool
	Part     int // of a text or of reasoning: differs between parts that follow each other
	Text     []byte
	ID       []byte // tool call id as the provider gave it
	Name     []byte // tool name as the provider gave it
	Custom   bool   // the tool takes free text, not a JSON object
	Model    []byte // the model that answers, as the provider names it
	Created  int64  // Unix seconds, 0 when the provider tells none
	Logprobs []byte
	Source   *Source
	Finish   FinishReason
	Stop     []byte // the matched stop sequence, nil when unknown
	Usage    *Usage
	Tier     Tier
	Fault    *Fault
	Origin   Format // of a signature: the only format that has words for it, "" for those of thinking
}

// Source is a page of the web that a part of the text cites.
type Source struct {
	URL, Title []byte // Title is empty when the provider tells none
	// Start and End say which part: characters of all text of the choice, End not
	// included.
	Start, End int
}

// FinishReason is why a turn ended, in words that all formats share.
type FinishReason uint8

// The finish reasons. The tables from and to each format's words stand in
// finish.go.
const (
	FinishUnknown  FinishReason = iota // not stated, or a word nobody knows
	FinishStop                         // the end of the turn, or a stop sequence when Event.Stop tells one
	FinishLength                       // the token limit, or the context window
	FinishTools                        // tool calls wait for their results
	FinishFiltered                     // the provider refused, or filtered the answer
	FinishRefused                      // the model refused, in texts that are marked as a refusal
	FinishPaused                       // a long turn was paused and may be continued
)

// Handler receives core events. It is called in the order of the answer, by
// one goroutine.
type Handler interface {
	Handle(*Event)
}
