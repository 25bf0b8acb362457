package event

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Kind is the kind of a core event. A JSON answer becomes the same events as a
// stream, so that the two cannot drift apart.
type Kind uint8

// The kinds (wire format D.2), with the fields of an Event that each one has.
const (
	Start        Kind = iota // Model, Created, Tier, Usage as far as known
	Text                     // Text, not empty; Refusal marks the text of a refusal
	TextEnd                  // end of a text; the next one is separate
	Source                   // Source: what the text before it cites
	Reasoning                // Text, not empty
	Signature                // Text, Origin: the signature of the reasoning before it; ID of the call that it signs as well
	Redacted                 // Text: the data of redacted reasoning
	ReasoningEnd             // end of a thinking block
	ToolStart                // Tool, ID, Name, Custom
	ToolArgs                 // Tool, Text: a fragment of the arguments, not empty
	ToolEnd                  // Tool
	Memo                     // ID, Raw: an object or a list that the provider wants back with a call; clients do not get it
	Logprobs                 // Logprobs: raw JSON of the chat format's content list, for the text before it
	Inline                   // Media: an image or other media
	Finish                   // Finish, Stop; Text: why the provider refused, if it gives a reason; Name: an unknown word for the end
	Usage                    // Usage, Tier: all counts so far; the last event counts
	Native                   // Text: the object that the next events are about, as JSON of the provider's format
	Failing                  // the answer has failed; an Error follows, which may state a better reason
	Error                    // Fault
	End                      // the answer is complete; a truncated answer has no End
)

// A parser sends Native for a JSON answer only: the whole answer before Start, and each
// choice, block or item before its events. Only a format that is translated to itself
// gets these events: its emitter takes what no other event contains from the object, so
// that a JSON answer loses nothing when it becomes a stream.

// Event is a core event. Its slices are valid until the handler returns.
type Event struct {
	Kind     Kind
	Choice   int // index of the answer, for kinds from Text to Finish
	Tool     int // index of the call within its choice, in order of appearance
	Refusal  bool
	Part     int // of Text and Reasoning: consecutive parts have different numbers
	Text     []byte
	Raw      []byte // the raw string whose text is Text, as a slice of the answer; nil if there is none
	ID       []byte // tool call id as the provider gave it
	Name     []byte // tool name as the provider gave it
	Custom   bool   // the tool takes free text, not a JSON object
	Model    []byte // the model that answers, as the provider names it
	Created  int64  // Unix seconds, 0 if unknown
	Logprobs []byte
	Source   *Citation
	Media    *Media
	Finish   FinishReason
	Stop     []byte // the matched stop sequence, nil if unknown
	Usage    *token.Usage
	Tier     Tier
	Fault    *fault.Fault
	Origin   translate.Format // of Signature: the only format that can express it, "" for signatures of thinking
}

// Citation is a web page that a part of the text cites.
type Citation struct {
	URL, Title []byte // Title is empty if unknown
	// Start and End delimit the part, in characters of all text of the choice. End is
	// not included.
	Start, End int
}

// Handler receives the events of an answer in their order, from one goroutine.
type Handler interface {
	Handle(*Event)
}

// ClientSignature returns the signature of an event as clients keep it beside the
// thinking that it signs. ok is false if that takes a seal and m has none.
func ClientSignature(m *translate.AnswerContext, e *Event) (signature []byte, ok bool) {
	switch {
	case e.Origin == "":
		return e.Text, true
	case m.Seals == nil:
		return nil, false
	}
	return m.Seals.Append(nil, seal.Item, e.Text), true
}

// Without contains, by name, what AppendNative writes in place of the values of members: ""
// leaves the member out, null replaces every value, and an empty string, object or array
// replaces values of its kind, and an empty string or object also null.
type Without map[string]string

// AppendNative appends the members of a valid object, the text of a Native event, each with
// a comma before it.
func AppendNative(dst, object []byte, replacements Without) []byte {
	for name, value := range jsonscan.Members(object) {
		replacement, replaced := replacements[string(name)]
		if replaced && replacement == "" {
			continue
		}
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		isNull := value[0] == 'n'
		if replaced && (replacement == "null" || replacement[0] == value[0] || isNull && replacement != "[]") {
			dst = append(dst, replacement...)
		} else {
			dst = jsonscan.AppendCompact(dst, value)
		}
	}
	return dst
}
