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
	// IncludeUsage is true if a chat or completions client asked for the usage chunk
	// of its stream.
	IncludeUsage bool

	// MaxHeld bounds the bytes that wait behind an open tool call; 0 means
	// sse.DefaultMaxEvent.
	MaxHeld int

	// Calls are the contexts of the calls by choice, if the request became several
	// calls. They differ in Echo and PromptLength.
	Calls []*AnswerContext

	// Choices is the number of choices that one call asks for; 0 means 1. The provider
	// may return fewer.
	Choices int

	// Echo is the decoded prompt, with which a completions answer begins; nil if the
	// client did not ask for it.
	Echo []byte
	// PromptLength is the length of the prompt of a completions request in characters.
	// Text offsets of log probabilities count from there.
	PromptLength int
	// Logprobs is true if a completions client asked for log probabilities, and
	// TopLogprobs is the number of alternatives for each token.
	Logprobs    bool
	TopLogprobs int

	// Stops are the decoded stop sequences of the client, in its order.
	Stops []string
	// Enforce are texts at which the gateway itself has to cut the answer: stop
	// sequences that the provider's format does not accept, and texts that end a turn
	// of a prompt template. See AddEnforced.
	Enforce []string
	// EndAtStop ends the call at a text of Enforce, since the format of the provider has no
	// stops: it would generate the answer to its end.
	EndAtStop bool
	// LeadingSpace is true if the answer may begin with a space that belongs to the
	// prompt template.
	LeadingSpace bool

	// Names maps shortened tool names, which the provider knows, to those of the
	// client. It is nil if none was shortened.
	Names map[string]string
	// Tools are the tools of a responses client that the provider knows in another
	// form, by the names that the reader of the request gave them; nil if there are
	// none.
	Tools map[string]ClientTool

	// Settings are the members of a responses answer that repeat its request, each
	// with a comma before it; nil means those of a request without settings.
	Settings []byte
	// HideReasoning is true if a responses client did not ask for summaries.
	HideReasoning bool
	// Seals seals signatures that only the provider's format can express, so that the
	// client can send them back. It is nil if the client gets none.
	Seals *seal.Sealer

	HasImages bool // the request held images
	HasMedia  bool // the request held images, documents or audio

	// InputEstimate estimates the input tokens, for streams that report the count only
	// at their end. It is 0 unless the provider's traits ask for an estimate.
	InputEstimate int64
}

// The bounds of Enforce. The provider does not get these texts and so cannot refuse
// too many of them.
const (
	MaxEnforced      = 64
	MaxEnforcedBytes = 4 << 10
)

// AddEnforced adds a text to Enforce, unless it is there. It adds nothing and returns
// false if that would exceed MaxEnforced texts or MaxEnforcedBytes.
func (m *AnswerContext) AddEnforced(text string) bool {
	bytes := len(text)
	for _, other := range m.Enforce {
		if other == text {
			return true
		}
		bytes += len(other)
	}
	if len(m.Enforce) == MaxEnforced || bytes > MaxEnforcedBytes {
		return false
	}
	m.Enforce = append(m.Enforce, text)
	return true
}

// ClientTool is the name and the kind of a tool of a responses client.
type ClientTool struct {
	Name, Namespace string // Namespace is "" for none
	// Wrapped is true if the client's tool takes free text, and the provider's an
	// object with that text.
	Wrapped bool
	// Search is true if the tool is the client's own search for tools.
	Search bool
}

// ToolName returns the client's name of a tool that the provider calls name.
func (m *AnswerContext) ToolName(name []byte) []byte {
	if original, ok := m.Names[string(name)]; ok {
		return []byte(original)
	}
	return name
}

// Of returns the context of the call that returns a choice.
func (m *AnswerContext) Of(choice int) *AnswerContext {
	if choice < len(m.Calls) {
		return m.Calls[choice]
	}
	return m
}

// Room returns MaxHeld, or its default.
func (m *AnswerContext) Room() int { return cmp.Or(m.MaxHeld, sse.DefaultMaxEvent) }
