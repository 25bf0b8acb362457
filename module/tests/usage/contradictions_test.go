package usage_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A stream that reports fewer tokens at its end than before cost what the end reports, and
// a cache that is larger than the prompt made the prompt free. Both were recorded as if the
// provider could be relied on. The searches of a responses answer were free.
func TestContradictionsAndSearchesAreCharged(t *testing.T) {
	const price = "price m input 1 output 2 cache_read 0.1 search 0.01"
	chunk := func(choices, usage string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[` + choices + `],"usage":` + usage + "}\n\n"
	}
	const done = `{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}`
	for name, tt := range map[string]struct {
		format, path, stream string
		want                 sum
	}{
		"less at the end": {
			"chat", site.ChatPath,
			chunk(done, `{"prompt_tokens":100,"completion_tokens":1000}`) + chunk("", `{"prompt_tokens":100,"completion_tokens":1}`) + "data: [DONE]\n\n",
			sum{Input: 100, Output: 1000, Cost: 100 + 2000, Estimated: 1},
		},
		"more cached than sent": {
			"chat", site.ChatPath,
			chunk(done, "null") + chunk("", `{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":200},"completion_tokens":10}`) + "data: [DONE]\n\n",
			sum{Input: 100, Output: 10, Cost: 100 + 20 + 20, Estimated: 1},
		},
		"two searches": {
			"responses", site.ResponsesPath,
			`event: response.created` + "\n" + `data: {"type":"response.created","sequence_number":0,"response":{"id":"r","model":"m","status":"in_progress","output":[]}}` + "\n\n" +
				`event: response.completed` + "\n" + `data: {"type":"response.completed","sequence_number":1,"response":{"id":"r","model":"m","status":"completed","output":[` +
				`{"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"web_search_call","id":"ws_2","status":"completed"}],"usage":{"input_tokens":100,"output_tokens":10}}}` + "\n\n",
			sum{Input: 100, Output: 10, Cost: 100 + 20 + 20_000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			p.Always(gatewaytest.Body(200, "text/event-stream", []byte(tt.stream)))
			s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "format "+tt.format, "models m", price))...)
			answer := s.Ask(tt.path, site.BodyFor(tt.path, "m", "hi", true))
			assert.Equal(t, 200, answer.Status, answer.Body)
			got := settled(t, s, "model", 1)[0]
			assert.Equal(t, tt.want, sum{Input: got.Input, Output: got.Output, Cost: got.Cost, Estimated: got.Estimated})
		})
	}
}
