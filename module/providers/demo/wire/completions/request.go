package completions

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// fields are the members of a request.
var fields = []string{
	"model", "prompt", "max_tokens", "temperature", "top_p", "n", "best_of", "stream",
	"stream_options", "stop", "suffix", "echo", "logprobs", "presence_penalty",
	"frequency_penalty", "logit_bias", "seed", "user",
}

func read(b *wire.Body) (*reply.Request, wire.Writer) {
	b.Known(fields...)
	r := &reply.Request{}
	w := &writer{ErrorBody: wire.ErrorBody{Family: openai.Family}}
	r.Model = b.Need("model")
	r.Prompts = prompts(b)
	r.Messages = len(r.Prompts)
	for _, text := range r.Prompts {
		r.AddText(text)
	}
	w.includeUsage = openai.ReadSampling(b, r)
	r.Limit = b.Integer("max_tokens", 0, -1)
	w.logprobs = b.Integer("logprobs", 0, -1)
	if w.logprobs > 5 {
		b.Fail("logprobs", "must be at most 5")
	}
	r.Echo = b.Flag("echo")
	b.Text("suffix")
	if best := b.Integer("best_of", 1, r.N); best < r.N {
		b.Fail("best_of", "must be at least n")
	}
	return r, w
}

// prompts reads the four forms of a prompt.
func prompts(b *wire.Body) []string {
	raw := b.Raw("prompt")
	var texts []string
	var ids []int
	var lists [][]int
	switch {
	case raw == nil:
		b.Missing("prompt")
	case wire.Quoted(raw):
		return []string{b.Text("prompt")}
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		return []string{spell(ids)}
	case json.Unmarshal(raw, &texts) == nil && len(texts) > 0:
		return texts
	case json.Unmarshal(raw, &lists) == nil && len(lists) > 0:
		spelled := make([]string, len(lists))
		for i, ids := range lists {
			spelled[i] = spell(ids)
		}
		return spelled
	default:
		b.Fail("prompt", "must be a string, an array of strings, or arrays of token ids")
	}
	return nil
}

// spell returns a substitute for the text of token ids, which only a real model knows.
func spell(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "<%d> ", id)
	}
	return b.String()
}
