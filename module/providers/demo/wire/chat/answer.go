package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// writer writes the answer to one request.
type writer struct {
	wire.ErrorBody
	includeUsage bool // a stream has usage
	logprobs     int  // alternatives for each token; negative for no values
}

type completion struct {
	openai.Head
	Choices     []choice      `json:"choices"`
	Usage       *openai.Usage `json:"usage,omitempty"`
	ServiceTier string        `json:"service_tier"`
	Fingerprint string        `json:"system_fingerprint"`
}

type choice struct {
	Index        int       `json:"index"`
	Message      message   `json:"message"`
	Logprobs     *logprobs `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type logprobs struct {
	Content []openai.TokenLogprob `json:"content"`
	Refusal []openai.TokenLogprob `json:"refusal"`
}

type message struct {
	Role        string     `json:"role"`
	Content     *string    `json:"content"`
	Refusal     *string    `json:"refusal"`
	Reasoning   string     `json:"reasoning_content,omitempty"`
	ToolCalls   []toolCall `json:"tool_calls,omitempty"`
	Annotations []any      `json:"annotations"`
}

type toolCall struct {
	Index    *int          `json:"index,omitempty"` // streams only
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function *functionCall `json:"function,omitempty"`
	Custom   *customCall   `json:"custom,omitempty"`
}

type functionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type customCall struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

const serviceTier = "default"

// Whole returns the answer as one completion.
func (w *writer) Whole(a *reply.Answer) any {
	c := completion{
		Head:        openai.NewHead(a, "chatcmpl-", "chat.completion"),
		ServiceTier: serviceTier, Fingerprint: openai.Fingerprint, Usage: openai.NewUsage(a),
	}
	for i := range a.Samples {
		s := &a.Samples[i]
		c.Choices = append(c.Choices, choice{
			Index: s.Index, Message: newMessage(a, s), Logprobs: w.newLogprobs(s, s.Pieces), FinishReason: finishReason(s),
		})
	}
	return c
}

// newLogprobs returns the values of pieces of the text, nil if the request does not ask for
// values.
func (w *writer) newLogprobs(s *reply.Sample, pieces []string) *logprobs {
	if w.logprobs < 0 || s.Refused {
		return nil
	}
	return &logprobs{Content: openai.Logprobs(pieces, w.logprobs)}
}

// newMessage returns the message of a choice. Its content is null if the answer has only
// calls, and with the fault null-content.
func newMessage(a *reply.Answer, s *reply.Sample) message {
	m := message{Role: "assistant", Reasoning: s.ReasoningText(), Annotations: []any{}}
	if text := s.Text(); s.Refused {
		m.Refusal = &text
	} else if text != "" || len(s.Calls) == 0 && !a.Faults.Has(reply.NullContent) {
		m.Content = &text
	}
	for i := range s.Calls {
		m.ToolCalls = append(m.ToolCalls, newToolCall(&s.Calls[i], s.Calls[i].Input()))
	}
	return m
}

func newToolCall(c *reply.Call, input string) toolCall {
	call := toolCall{ID: "call_" + c.ID, Type: "function", Function: &functionCall{c.Name, input}}
	if c.Custom {
		call.Type, call.Function, call.Custom = "custom", nil, &customCall{c.Name, input}
	}
	return call
}

// finishReason returns the finish_reason of a sample. A refusal ends with "stop".
func finishReason(s *reply.Sample) *string {
	return wire.Optional(map[reply.Stop]string{
		reply.Ended: "stop", reply.Limited: "length", reply.Stopped: "stop",
		reply.Called: "tool_calls", reply.Declined: "stop", reply.Filtered: "content_filter",
	}[s.Stop])
}
