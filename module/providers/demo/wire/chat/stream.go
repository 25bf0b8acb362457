package chat

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

type chunk struct {
	openai.Head
	Choices     []chunkChoice   `json:"choices"`
	Usage       json.RawMessage `json:"usage,omitempty"`
	ServiceTier string          `json:"service_tier"`
	Fingerprint string          `json:"system_fingerprint"`
}

type chunkChoice struct {
	Index        int       `json:"index"`
	Delta        delta     `json:"delta"`
	Logprobs     *logprobs `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Refusal   *string    `json:"refusal,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// Stream emits the chunks of the answer.
func (w *writer) Stream(a *reply.Answer, emit func(wire.Event)) {
	chunks := openai.Chunks[chunkChoice]{Answer: a, IncludeUsage: w.includeUsage, Chunk: newChunk(a), Emit: emit}
	empty := ""
	queues := make([][]chunkChoice, len(a.Samples))
	for i := range a.Samples {
		chunks.Send(wire.Frame, chunkChoice{Index: i, Delta: delta{Role: "assistant", Content: &empty}})
		queues[i] = w.choices(&a.Samples[i])
	}
	chunks.TakeTurns(queues)
	for i := range a.Samples {
		chunks.Send(wire.Finish, chunkChoice{Index: i, FinishReason: finishReason(&a.Samples[i])})
	}
	chunks.End()
}

func newChunk(a *reply.Answer) func([]chunkChoice, json.RawMessage) any {
	head := openai.NewHead(a, "chatcmpl-", "chat.completion.chunk")
	return func(choices []chunkChoice, usage json.RawMessage) any {
		return chunk{head, choices, usage, serviceTier, openai.Fingerprint}
	}
}

// choices returns the deltas of one sample between its role and its finish.
func (w *writer) choices(s *reply.Sample) (list []chunkChoice) {
	for _, piece := range s.Reasoning {
		list = append(list, chunkChoice{Index: s.Index, Delta: delta{Reasoning: piece}})
	}
	for _, piece := range s.Pieces {
		choice := chunkChoice{Index: s.Index, Delta: delta{Content: &piece}, Logprobs: w.newLogprobs(s, []string{piece})}
		if s.Refused {
			choice.Delta = delta{Refusal: &piece}
		}
		list = append(list, choice)
	}
	for ordinal := range s.Calls {
		for _, piece := range callPieces(&s.Calls[ordinal], ordinal) {
			list = append(list, chunkChoice{Index: s.Index, Delta: delta{ToolCalls: []toolCall{piece}}})
		}
	}
	return list
}

// callPieces returns the deltas of a call. Only the first one has id and name, because readers
// concatenate names.
func callPieces(c *reply.Call, ordinal int) []toolCall {
	first := newToolCall(c, "")
	first.Index = &ordinal
	list := []toolCall{first}
	for _, piece := range c.Pieces {
		next := toolCall{Index: &ordinal, Function: &functionCall{Arguments: piece}}
		if c.Custom {
			next = toolCall{Index: &ordinal, Custom: &customCall{Input: piece}}
		}
		list = append(list, next)
	}
	return list
}
