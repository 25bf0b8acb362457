package completions

import (
	"encoding/json"

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

// completion is an answer, or a chunk of its stream.
type completion struct {
	openai.Head
	Choices     []choice        `json:"choices"`
	Usage       json.RawMessage `json:"usage,omitempty"` // an object, null, or absent
	Fingerprint string          `json:"system_fingerprint"`
}

type choice struct {
	Text         string    `json:"text"`
	Index        int       `json:"index"`
	Logprobs     *logprobs `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

// Whole returns the answer as one completion.
func (w *writer) Whole(a *reply.Answer) any {
	c := completion{Head: head(a), Choices: []choice{}, Fingerprint: openai.Fingerprint}
	for i := range a.Samples {
		s := &a.Samples[i]
		choice := choice{Text: s.Echo + s.Text(), Index: s.Index, FinishReason: finishReason(s)}
		if w.logprobs >= 0 {
			choice.Logprobs = w.newLogprobs(s.EchoPieces(), true, 0)
			choice.Logprobs.add(w.newLogprobs(s.Pieces, false, promptLength(a, s)))
		}
		c.Choices = append(c.Choices, choice)
	}
	if usage := openai.NewUsage(a); usage != nil {
		c.Usage = reply.Encode(usage)
	}
	return c
}

func head(a *reply.Answer) openai.Head { return openai.NewHead(a, "cmpl-", "text_completion") }

// promptLength returns the length of the sample's prompt in characters.
func promptLength(a *reply.Answer, s *reply.Sample) int {
	return len([]rune(a.Prompts[s.Index/a.N]))
}

func finishReason(s *reply.Sample) *string {
	return wire.Optional(map[reply.Stop]string{
		reply.Ended: "stop", reply.Limited: "length", reply.Stopped: "stop",
		reply.Called: "stop", reply.Declined: "content_filter", reply.Filtered: "content_filter",
	}[s.Stop])
}
