package completions

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// Stream emits the chunks of the answer.
func (w *writer) Stream(a *reply.Answer, emit func(wire.Event)) {
	chunks := openai.Chunks[choice]{Answer: a, IncludeUsage: w.includeUsage, Chunk: newChunk(a), Emit: emit}
	queues := make([][]choice, len(a.Samples))
	for i := range a.Samples {
		queues[i] = w.choices(a, &a.Samples[i])
	}
	chunks.TakeTurns(queues)
	for i := range a.Samples {
		chunks.Send(wire.Finish, choice{Index: i, FinishReason: finishReason(&a.Samples[i])})
	}
	chunks.End()
}

func newChunk(a *reply.Answer) func([]choice, json.RawMessage) any {
	head := head(a)
	return func(choices []choice, usage json.RawMessage) any {
		return completion{head, choices, usage, openai.Fingerprint}
	}
}

// choices returns the pieces of one sample before its finish. An echoed prompt is
// the first piece.
func (w *writer) choices(a *reply.Answer, s *reply.Sample) (list []choice) {
	if s.Echo != "" {
		list = append(list, choice{Text: s.Echo, Index: s.Index, Logprobs: w.newLogprobs(s.EchoPieces(), true, 0)})
	}
	offset := promptLength(a, s)
	for _, piece := range s.Pieces {
		list = append(list, choice{Text: piece, Index: s.Index, Logprobs: w.newLogprobs([]string{piece}, false, offset)})
		offset += len([]rune(piece))
	}
	return list
}
