package translate

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// AnswerContext is what the translation of an answer depends on beside the answer
// itself: properties of the request and of its client. It holds no slice of the
// request body, which may be released before the answer ends.
type AnswerContext struct {
	// Stream is true if the client asked for an event stream.
	Stream bool
	// IncludeUsage is true if the client asked for the usage of its stream, in a format
	// whose streams have it only on request.
	IncludeUsage bool

	// MaxHeld bounds the bytes that wait behind an open tool call; 0 means
	// sse.DefaultMaxEvent.
	MaxHeld int

	// Calls are the contexts of the calls by choice, if the request became several
	// calls. They differ in Input.
	Calls []*AnswerContext
	// Choices is the number of choices that one call asks for; 0 means 1. The provider
	// may return fewer.
	Choices int

	Input    Input
	Logprobs Logprobs
	Cuts     Cuts
	Tools    ToolNames

	// Settings are the members of an answer that repeat its request, each with a comma
	// before it; nil means those of a request without settings, and is the value for
	// formats whose answers repeat nothing.
	Settings  []byte
	Reasoning ReasoningOf
	// Seals seals signatures that only the provider's format can express, so that the
	// client can send them back. It is nil if the client gets none.
	Seals *seal.Sealer
}

// Input is what an answer repeats or counts of the input.
type Input struct {
	// Echo is the decoded prompt, with which the answer begins; nil if the client did not
	// ask for it.
	Echo []byte
	// Length is the length of a prompt that is one text, in characters. Text offsets of
	// log probabilities count from there.
	Length int
	Images bool // the request held images
	Media  bool // the request held images, documents or audio
	// Calls are the hashes of the ids of its calls of tools, which those of the answer must
	// not repeat: clients find the result of a call by its id.
	Calls []uint64
	// Estimate estimates the input tokens, for streams that report the count only at
	// their end. It is 0 unless the provider's traits ask for an estimate.
	Estimate int64
}

// ReasoningOf is what becomes of the reasoning in an answer.
type ReasoningOf struct {
	// Hidden is true if the client did not ask for reasoning, in a format whose clients
	// have to.
	Hidden bool
	// Foreign is true if the model does not take its reasoning back, and no other model can
	// verify it: the client gets neither its signatures nor what only they could open.
	Foreign bool
	// Memory remembers what the provider wants back with its calls, such as the signatures of
	// Google's models in the chat format. It is nil if nothing is remembered.
	Memory *seal.Sealer
}

// Logprobs are the log probabilities that the client asked for.
type Logprobs struct {
	Asked bool
	Top   int // the number of alternatives for each token
}

// Cuts are the texts at which an answer ends, and what is cut from its beginning.
type Cuts struct {
	// Stops are the decoded stop sequences of the client, in its order.
	Stops []string
	// Enforced are texts at which the gateway itself has to cut the answer: stop
	// sequences that the provider's format does not accept, and texts that end a turn
	// of a prompt template. See Enforce.
	Enforced []string
	// EndCall ends the call at a text of Enforced, since the format of the provider has no
	// stops: it would generate the answer to its end.
	EndCall bool
	// LeadingSpace is true if the answer may begin with a space that belongs to the
	// prompt template.
	LeadingSpace bool
}

// The bounds of Cuts.Enforced. The provider does not get these texts and so cannot refuse
// too many of them.
const (
	MaxEnforced      = 64
	MaxEnforcedBytes = 4 << 10
)

// Enforce adds a text to Enforced, unless it is there, or empty: such a text stops nothing. It
// adds nothing and returns false if that would exceed MaxEnforced texts or MaxEnforcedBytes.
func (c *Cuts) Enforce(text string) bool {
	bytes := len(text)
	if bytes == 0 {
		return true
	}
	for _, other := range c.Enforced {
		if other == text {
			return true
		}
		bytes += len(other)
	}
	if len(c.Enforced) == MaxEnforced || bytes > MaxEnforcedBytes {
		return false
	}
	c.Enforced = append(c.Enforced, text)
	return true
}

// ToolNames are the client's tools by the names that the provider knows.
type ToolNames struct {
	// Shortened maps shortened names to those of the client. It is nil if none was
	// shortened.
	Shortened map[string]string
	// Client are the tools that the provider knows in another form, by the names that the
	// reader of the request gave them; nil if there are none.
	Client map[string]ClientTool
}

// ClientTool is the name and the kind of a tool that the provider knows in another form.
type ClientTool struct {
	Name, Namespace string // Namespace is "" for none
	// Wrapped is true if the client's tool takes free text, and the provider's an
	// object with that text.
	Wrapped bool
	// Search is true if the tool is the client's own search for tools.
	Search bool
}

// Of returns the client's name of a tool that the provider calls name.
func (t *ToolNames) Of(name []byte) []byte {
	if original, ok := t.Shortened[string(name)]; ok {
		return []byte(original)
	}
	return name
}

// Asked returns the number of choices that one call asks for.
func (m *AnswerContext) Asked() int { return max(1, m.Choices) }

// Of returns the context of the call that returns a choice.
func (m *AnswerContext) Of(choice int) *AnswerContext {
	if choice < len(m.Calls) {
		return m.Calls[choice]
	}
	return m
}

// Room returns MaxHeld, or its default.
func (m *AnswerContext) Room() int { return cmp.Or(m.MaxHeld, sse.DefaultMaxEvent) }
