package demo

import "encoding/json"

type chatChunk struct {
	ID          string          `json:"id"`
	Object      string          `json:"object"`
	Created     int64           `json:"created"`
	Model       string          `json:"model"`
	Choices     []chunkChoice   `json:"choices"`
	Usage       json.RawMessage `json:"usage,omitempty"`
	ServiceTier string          `json:"service_tier"`
	Fingerprint string          `json:"system_fingerprint"`
}

type chunkChoice struct {
	Index        int           `json:"index"`
	Delta        chunkDelta    `json:"delta"`
	Logprobs     *chatLogprobs `json:"logprobs"`
	FinishReason *string       `json:"finish_reason"`
}

type chunkDelta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Refusal   *string    `json:"refusal,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// chatStream writes the chunks of the chat format.
type chatStream struct {
	*stream
	a *answer
}

// streamChat writes the whole stream. The choices take turns, as they do when
// a true model samples them side by side.
func (s *stream) streamChat(a *answer) {
	c := &chatStream{s, a}
	empty := ""
	queues := make([][]chunkChoice, len(a.samples))
	for i := range a.samples {
		c.send("", c.chunk(chunkChoice{Index: i, Delta: chunkDelta{Role: "assistant", Content: &empty}}))
		queues[i] = c.choices(&a.samples[i])
	}
	takeTurns(queues, func(choice chunkChoice) { c.content("", c.chunk(choice)) })
	c.finish()
}

// takeTurns gives out the queues' items round by round.
func takeTurns[T any](queues [][]T, give func(T)) {
	for more, round := true, 0; more; round++ {
		more = false
		for _, queue := range queues {
			if round < len(queue) {
				give(queue[round])
				more = true
			}
		}
	}
}

func (c *chatStream) chunk(choices ...chunkChoice) chatChunk {
	chunk := chatChunk{
		ID: "chatcmpl-" + c.a.id, Object: "chat.completion.chunk", Created: c.a.created, Model: c.a.model,
		Choices: choices, ServiceTier: serviceTier, Fingerprint: fingerprint,
	}
	if c.a.includeUsage {
		chunk.Usage = json.RawMessage("null")
	}
	return chunk
}

// choices are the deltas of one sample between its role and its finish.
func (c *chatStream) choices(s *sample) (list []chunkChoice) {
	if s.thought != nil {
		for _, piece := range s.thought.pieces {
			list = append(list, chunkChoice{Index: s.index, Delta: chunkDelta{Reasoning: piece}})
		}
	}
	for _, piece := range s.pieces {
		choice := chunkChoice{Index: s.index, Delta: chunkDelta{Content: &piece}}
		if s.refused {
			choice.Delta = chunkDelta{Refusal: &piece}
		} else if c.a.logprobs >= 0 {
			choice.Logprobs = c.a.chatLogprobs([]string{piece})
		}
		list = append(list, choice)
	}
	for ordinal := range s.calls {
		for _, delta := range s.calls[ordinal].deltas(ordinal) {
			list = append(list, chunkChoice{Index: s.index, Delta: chunkDelta{ToolCalls: []toolCall{delta}}})
		}
	}
	return list
}

// deltas name the call in the first, and no more after it: readers concatenate
// names.
func (c *call) deltas(ordinal int) []toolCall {
	first := toolCall{Index: &ordinal, ID: c.id, Type: "function", Function: &functionCall{Name: c.name}}
	if c.custom {
		first = toolCall{Index: &ordinal, ID: c.id, Type: "custom", Custom: &customCall{Name: c.name}}
	}
	list := []toolCall{first}
	for _, piece := range c.pieces {
		next := toolCall{Index: &ordinal, Function: &functionCall{Arguments: piece}}
		if c.custom {
			next = toolCall{Index: &ordinal, Custom: &customCall{Input: piece}}
		}
		list = append(list, next)
	}
	return list
}

func (c *chatStream) finish() {
	c.beforeFinish()
	if c.a.faults.noFinish {
		return
	}
	for i := range c.a.samples {
		c.send("", c.chunk(chunkChoice{Index: i, FinishReason: c.a.samples[i].chatStop()}))
	}
	if c.a.includeUsage && !c.a.faults.noUsage {
		last := c.chunk()
		last.Choices, last.Usage = []chunkChoice{}, encode(c.a.chatUsage())
		c.send("", last)
	}
	c.done()
}

// done writes the terminal event of chat and completions.
func (s *stream) done() {
	if !s.faults.noDone {
		s.write("", []byte("[DONE]"))
	}
}
