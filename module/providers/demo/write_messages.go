package demo

import "encoding/json"

type messagesAnswer struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []any         `json:"content"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	StopDetails  *stopDetails  `json:"stop_details"`
	Usage        messagesUsage `json:"usage"`
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

// wholeMessages is the whole answer in the messages format.
func (a *answer) wholeMessages() messagesAnswer {
	s := &a.samples[0]
	m := a.messagesStart()
	m.Usage = a.messagesUsage()
	m.StopReason, m.StopSequence = s.messagesStop(), optional(s.matched)
	m.StopDetails = s.details()
	if s.thought != nil {
		m.Content = append(m.Content, a.thinkingBlock(a.shown(s.thought), s.thought.signature))
	}
	if len(s.pieces) > 0 {
		m.Content = append(m.Content, textBlock{"text", s.text()})
	}
	for _, c := range s.calls {
		input := json.RawMessage(c.arguments())
		if !json.Valid(input) { // cut by max_tokens
			input = json.RawMessage("{}")
		}
		m.Content = append(m.Content, toolUseBlock{"tool_use", c.id, c.name, input})
	}
	if a.faults.nullContent && len(m.Content) == 0 {
		m.Content = nil
	}
	return m
}

func (a *answer) thinkingBlock(text, signature string) thinkingBlock {
	block := thinkingBlock{Type: "thinking", Thinking: text}
	if !a.faults.noSignature {
		block.Signature = &signature
	}
	return block
}

// messagesStart is the answer before anything of it was said.
func (a *answer) messagesStart() messagesAnswer {
	m := messagesAnswer{ID: "msg_" + a.id, Type: "message", Role: "assistant", Model: a.model, Content: []any{}}
	m.Usage = a.messagesUsage()
	m.Usage.OutputTokens, m.Usage.OutputDetails.Thinking = min(1, m.Usage.OutputTokens), 0
	return m
}

func (a *answer) messagesUsage() messagesUsage {
	if a.faults.noUsage {
		return usage{}.messages()
	}
	return a.usage.messages()
}

// shown is the text of a thinking block as the caller wants to see it.
func (a *answer) shown(t *thought) string {
	if a.hidden {
		return ""
	}
	return t.text()
}

func (s *sample) messagesStop() *string {
	return optional(map[stop]string{
		ended: "end_turn", limited: "max_tokens", stopped: "stop_sequence",
		called: "tool_use", declined: "refusal",
	}[s.stop])
}

func (s *sample) details() *stopDetails {
	if s.stop != declined {
		return nil
	}
	return &stopDetails{Type: "refusal", Explanation: "the prompt asked for a refusal"}
}
