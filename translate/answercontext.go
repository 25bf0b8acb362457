package translate

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// AnswerContext is what the way back needs to know of a translated request: the
// answer is written for the client that sent it. It holds no slices of the
// request's body, which may be gone before the answer ends.
type AnswerContext struct {
	// Stream says that the client wants an event stream, whatever the provider
	// answers with.
	Stream bool
	// IncludeUsage says that a chat or completions client asked for the usage
	// chunk of its stream.
	IncludeUsage bool

	// MaxHeld bounds what waits behind an open tool call until its place in the
	// answer comes, in bytes; 0 stands for sse.DefaultMaxEvent.
	MaxHeld int

	// Calls are the memories of all calls that the request became, by choice,
	// where it became several: in Echo and PromptLength they differ.
	Calls []*AnswerContext

	// Choices is how many choices the provider was asked for in one call; 0
	// stands for 1. It may give fewer.
	Choices int

	// Echo is the prompt's text, decoded, that is put in front of a
	// completions answer; nil when the client did not ask for it.
	Echo []byte
	// PromptLength is the length of the prompt of a completions request in
	// characters; text offsets of logprobs count from it.
	PromptLength int
	// Logprobs says that a completions client wants log probabilities, and
	// TopLogprobs how many alternatives of each token, 0 for none.
	Logprobs    bool
	TopLogprobs int

	// Stops are the stop sequences of the client, decoded, in its order.
	Stops []string
	// Enforce are the texts before the first of which whoever writes the answer
	// must cut it: those of Stops that the provider's format does not take, and
	// those that end a turn of a prompt template. See AddEnforced.
	Enforce []string
	// LeadingSpace says that the answer to a prompt template begins with a space
	// that belongs to the template.
	LeadingSpace bool

	// Names tells the tool names of the client by the shortened ones that the
	// provider knows. It is nil when none was shortened.
	Names map[string]string
	// Tools are the tools of a responses client that its provider knows in another
	// way, by the names that the client's reader gave them. It is nil without any.
	Tools map[string]ClientTool

	// Settings are the members of a responses answer that repeat its request, each
	// with a comma before it; nil stands for those of a request that set nothing.
	Settings []byte
	// HideReasoning says that a responses client did not ask for summaries.
	HideReasoning bool
	// Seals closes signatures that only the provider's format has words for, so that
	// the client can send them back. It is nil where the client does not want them,
	// or cannot get them.
	Seals *seal.Sealer

	HasImages bool // the request held images
	HasMedia  bool // the request held images, documents or audio

	// InputEstimate is an estimate of the input tokens, for streams that tell
	// the true count only at their end. 0 unless the provider's traits ask for it.
	InputEstimate int64
}

// The bounds of Enforce. The provider, which does not get these texts, cannot
// refuse them.
const (
	MaxEnforced      = 64
	MaxEnforcedBytes = 4 << 10
)

// AddEnforced adds a text to Enforce, unless it is there. It reports false, and
// adds nothing, where that would exceed MaxEnforced texts or MaxEnforcedBytes.
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

// ClientTool is what a responses client calls a tool, and of which kind it is there.
type ClientTool struct {
	Name, Namespace string // Namespace is "" for a tool that has none
	// Wrapped says that the client's tool takes a free text, and the provider's an
	// object that holds it.
	Wrapped bool
	// Search says that the tool is the client's own search for tools.
	Search bool
}

// ToolName returns the name by which the client's reader knows a tool of the
// provider.
func (m *AnswerContext) ToolName(name []byte) []byte {
	if original, ok := m.Names[string(name)]; ok {
		return []byte(original)
	}
	return name
}

// Of is the memory of the call that gives a choice.
func (m *AnswerContext) Of(choice int) *AnswerContext {
	if choice < len(m.Calls) {
		return m.Calls[choice]
	}
	return m
}

// Room is MaxHeld, or what 0 stands for.
func (m *AnswerContext) Room() int { return cmp.Or(m.MaxHeld, sse.DefaultMaxEvent) }
