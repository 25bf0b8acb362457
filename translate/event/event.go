package event

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Kind names a core event: the format-neutral step of an answer, streamed
// or not. Every translation of an answer goes parser → core events → emitter,
// and a JSON answer takes the same way as a stream, so the two cannot drift.
type Kind uint8

// The core events (wire format D.2).
const (
	Start        Kind = iota // Model, Created, Tier, Usage as far as known
	Text                     // Text, non-empty; Refusal marks a refusal's text
	TextEnd                  // one text is over; the next one is another
	Source                   // Citation: what the text before it cites
	Reasoning                // Text, non-empty
	Signature                // Text, Origin: the signature of the reasoning before it
	Redacted                 // Text: the data of redacted reasoning
	ReasoningEnd             // one thinking block is over
	ToolStart                // Tool, ID, Name, Custom
	ToolArgs                 // Tool, Text: a non-empty fragment of the arguments
	ToolEnd                  // Tool
	Logprobs                 // Logprobs: raw JSON of the chat format's content list, for the text before it
	Finish                   // Finish, Stop; Text: why the provider refused, where it says so
	Usage                    // Usage, Tier: the full record so far; the last one wins
	Error                    // Fault
	End                      // the end, clean; a truncated answer has none
)

// Event is one core event. Its byte slices are valid only while the emitter
// handles it.
type Event struct {
	Kind     Kind
	Choice   int // from Text to Finish: which answer it belongs to
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
	Source   *Citation
	Finish   FinishReason
	Stop     []byte // the matched stop sequence, nil when unknown
	Usage    *token.Usage
	Tier     Tier
	Fault    *fault.Fault
	Origin   translate.Format // of a signature: the only format that has words for it, "" for those of thinking
}

// Citation is a page of the web that a part of the text cites.
type Citation struct {
	URL, Title []byte // Title is empty when the provider tells none
	// Start and End say which part: characters of all text of the choice, End not
	// included.
	Start, End int
}

// Handler receives core events. It is called in the order of the answer, by
// one goroutine.
type Handler interface {
	Handle(*Event)
}
