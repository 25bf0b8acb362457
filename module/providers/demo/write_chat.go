package demo

type chatAnswer struct {
	ID          string       `json:"id"`
	Object      string       `json:"object"`
	Created     int64        `json:"created"`
	Model       string       `json:"model"`
	Choices     []chatChoice `json:"choices"`
	Usage       *chatUsage   `json:"usage,omitempty"`
	ServiceTier string       `json:"service_tier"`
	Fingerprint string       `json:"system_fingerprint"`
}

type chatChoice struct {
	Index        int           `json:"index"`
	Message      chatMessage   `json:"message"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason string        `json:"finish_reason"`
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	Notes     []any      `json:"annotations"`
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

const (
	serviceTier = "default"
	fingerprint = "fp_demo"
)

// wholeChat is the whole answer in the chat format.
func (a *answer) wholeChat() chatAnswer {
	c := chatAnswer{
		ID: "chatcmpl-" + a.id, Object: "chat.completion", Created: a.created, Model: a.model,
		ServiceTier: serviceTier, Fingerprint: fingerprint, Usage: a.wholeUsage(),
	}
	for i := range a.samples {
		s := &a.samples[i]
		choice := chatChoice{Index: s.index, Message: s.message(), FinishReason: *s.chatStop()}
		if a.logprobs >= 0 && !s.refused {
			choice.Logprobs = a.chatLogprobs(s.pieces)
		}
		c.Choices = append(c.Choices, choice)
	}
	return c
}

// wholeUsage is nil when the prompt asked for none.
func (a *answer) wholeUsage() *chatUsage {
	if a.faults.noUsage {
		return nil
	}
	u := a.chatUsage()
	return &u
}

// message is null in its content when there is a call and no word, or a fault.
func (s *sample) message() chatMessage {
	m := chatMessage{Role: "assistant", Notes: []any{}}
	if s.thought != nil {
		m.Reasoning = s.thought.text()
	}
	if text := s.text(); s.refused {
		m.Refusal = &text
	} else if text != "" || len(s.calls) == 0 && !s.null {
		m.Content = &text
	}
	for i := range s.calls {
		m.ToolCalls = append(m.ToolCalls, s.calls[i].whole())
	}
	return m
}

func (c *call) whole() toolCall {
	if c.custom {
		return toolCall{ID: c.id, Type: "custom", Custom: &customCall{c.name, c.arguments()}}
	}
	return toolCall{ID: c.id, Type: "function", Function: &functionCall{c.name, c.arguments()}}
}

// chatStop is the finish_reason of chat; a refusal is an ordinary end there.
func (s *sample) chatStop() *string {
	return optional(map[stop]string{
		ended: "stop", limited: "length", stopped: "stop", called: "tool_calls", declined: "stop",
	}[s.stop])
}
