package messages

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// writer writes the answer to one request.
type writer struct {
	wire.ErrorBody
	hidden bool // reasoning is signed, but its text is not shown
}

type message struct {
	ID           string       `json:"id"`
	Type         string       `json:"type"`
	Role         string       `json:"role"`
	Model        string       `json:"model"`
	Content      []any        `json:"content"`
	StopReason   *string      `json:"stop_reason"`
	StopSequence *string      `json:"stop_sequence"`
	StopDetails  *stopDetails `json:"stop_details"`
	Usage        usage        `json:"usage"`
}

type stopDetails struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation string  `json:"explanation"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string  `json:"type"`
	Thinking  string  `json:"thinking"`
	Signature *string `json:"signature,omitempty"`
}

type toolUseBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Whole returns the answer as one message.
func (w *writer) Whole(a *reply.Answer) any {
	s := &a.Samples[0]
	m := start(a)
	m.Usage = newUsage(a)
	m.StopReason, m.StopSequence, m.StopDetails = stopReason(s), wire.Optional(s.Matched), details(s)
	if s.Reasoning != nil {
		text := w.shown(s)
		m.Content = append(m.Content, newThinking(a, text, a.Sign(text)))
	}
	if len(s.Pieces) > 0 {
		m.Content = append(m.Content, textBlock{"text", s.Text()})
	}
	for i := range s.Calls {
		m.Content = append(m.Content, newToolUse(&s.Calls[i]))
	}
	if a.Faults.Has(reply.NullContent) && len(m.Content) == 0 {
		m.Content = nil
	}
	return m
}

// start returns the answer without content, for the beginning of a stream.
func start(a *reply.Answer) message {
	m := message{ID: "msg_" + a.ID(), Type: "message", Role: "assistant", Model: a.Model, Content: []any{}}
	m.Usage = newUsage(a)
	m.Usage.OutputTokens, m.Usage.OutputDetails.Thinking = min(1, m.Usage.OutputTokens), 0
	return m
}

// shown returns the reasoning that the answer shows.
func (w *writer) shown(s *reply.Sample) string {
	if w.hidden {
		return ""
	}
	return s.ReasoningText()
}

func newThinking(a *reply.Answer, text, signature string) thinkingBlock {
	block := thinkingBlock{Type: "thinking", Thinking: text}
	if !a.Faults.Has(reply.NoSignature) {
		block.Signature = &signature
	}
	return block
}

func callID(c *reply.Call) string { return "toolu_" + c.ID }

func newToolUse(c *reply.Call) toolUseBlock {
	input := json.RawMessage(c.Input())
	if !json.Valid(input) { // max_tokens has cut it
		input = json.RawMessage("{}")
	}
	return toolUseBlock{"tool_use", callID(c), c.Name, input}
}

func stopReason(s *reply.Sample) *string {
	return wire.Optional(map[reply.Stop]string{
		reply.Ended: "end_turn", reply.Limited: "max_tokens", reply.Stopped: "stop_sequence",
		reply.Called: "tool_use", reply.Declined: "refusal", reply.Filtered: "refusal",
	}[s.Stop])
}

func details(s *reply.Sample) *stopDetails {
	explanations := map[reply.Stop]string{
		reply.Declined: "the prompt asked for a refusal", reply.Filtered: "the prompt asked for a filter",
	}
	explanation, refused := explanations[s.Stop]
	if !refused {
		return nil
	}
	return &stopDetails{Type: "refusal", Explanation: explanation}
}
