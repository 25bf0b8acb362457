package pairs_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// agentRequest is a request as coding agents send them late in a session: 100
// KB, 30 tools and 60 messages.
func agentRequest() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-5","messages":[{"role":"user","content":"Begin."},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_0","name":"Read","input":{}}]},`)
	prose := strings.Repeat(`Look at the file \"main.go\" and say what it does.\nThen change it. `, 20)
	for i := range 30 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}],"is_error":false,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"go on"}]},`, i, prose)
		fmt.Fprintf(&b, `{"role":"assistant","content":[{"type":"thinking","thinking":"%s","signature":"EqQBCgIYAhIM%d"},{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"path":"/src/main.go","limit":%d}}]}`, prose[:400], i, i+1, i)
	}
	b.WriteString(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_30","content":"done"}]}`)
	b.WriteString(`],"system":[{"type":"text","text":"`)
	b.WriteString(strings.Repeat("You are a careful engineer. ", 300))
	b.WriteString(`","cache_control":{"type":"ephemeral"}}],"tools":[`)
	for i := range 30 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"Tool%d","description":"%s","input_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"path":{"description":"Where to look","type":"string"},"limit":{"type":"integer","exclusiveMinimum":0}},"required":["path"],"additionalProperties":false}}`, i, strings.Repeat("Reads a file. ", 40))
	}
	b.WriteString(`],"metadata":{"user_id":"u"},"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"stream":true}`)
	return []byte(b.String())
}

// leastAllocs is the least number of allocations of several runs: the race
// detector empties pools at random.
func leastAllocs(run func()) float64 {
	least, runs := math.Inf(1), 8
	if raced {
		runs = 80
	}
	for range runs {
		least = min(least, testing.AllocsPerRun(1, run))
	}
	return least
}

// chatAgentRequest is the same request as a chat client sends it.
func chatAgentRequest(tb testing.TB) []byte {
	tb.Helper()
	traits := traitsOf(tb, "reasoning_effort on; reasoning_replay reasoning_content")
	body, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, agentRequest(), &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traits})
	require.Nil(tb, fault)
	return body
}

// asResponses returns a request of the messages format as a responses client sends it.
func asResponses(tb testing.TB, request []byte) []byte {
	tb.Helper()
	body, _, fault := pairs.Render(nil, translate.Messages, translate.Responses, request, &core.RequestInfo{Model: "m1", Upstream: "m1"})
	require.Nil(tb, fault)
	return body
}

// asGemini returns a request of the messages format as a gemini client sends it.
func asGemini(tb testing.TB, request []byte) []byte {
	tb.Helper()
	body, _, fault := pairs.Render(nil, translate.Messages, translate.Gemini, request, &core.RequestInfo{Model: "m1", Upstream: "gemini-3-pro"})
	require.Nil(tb, fault)
	return body
}

// requests are those of about 100 KB: of an agent with tools where the provider
// has such, else of a long conversation, or one long prompt.
func requests(tb testing.TB) []struct {
	source, target translate.Format
	body           []byte
} {
	prompt := []byte(`{"model":"m1","prompt":"` + strings.Repeat(`Look at the file \"main.go\" and say what it does.\nThen change it. `, 1500) + `","max_tokens":100,"stream":true}`)
	return []struct {
		source, target translate.Format
		body           []byte
	}{
		{translate.Messages, translate.Chat, agentRequest()}, // the measure of the others
		{translate.Messages, translate.Completions, talkRequest(translate.Messages)},
		{translate.Chat, translate.Messages, chatAgentRequest(tb)},
		{translate.Chat, translate.Completions, talkRequest(translate.Chat)},
		{translate.Messages, translate.Responses, agentRequest()},
		{translate.Messages, translate.Gemini, agentRequest()},
		{translate.Gemini, translate.Messages, asGemini(tb, agentRequest())},
		{translate.Chat, translate.Gemini, chatAgentRequest(tb)},
		{translate.Messages, translate.Converse, agentRequest()},
		{translate.Chat, translate.Converse, chatAgentRequest(tb)},
		{translate.Chat, translate.Responses, chatAgentRequest(tb)},
		{translate.Responses, translate.Messages, asResponses(tb, agentRequest())},
		{translate.Responses, translate.Chat, asResponses(tb, agentRequest())},
		{translate.Responses, translate.Completions, asResponses(tb, talkRequest(translate.Messages))},
		{translate.Completions, translate.Responses, prompt},
		{translate.Completions, translate.Messages, prompt},
		{translate.Completions, translate.Chat, prompt},
	}
}

// TestARequestAllocatesLittle ensures, too, that the list of the tools waits for the next
// request. It grew anew with each one of responses before, to 20 KB for 30 tools.
func TestARequestAllocatesLittle(t *testing.T) {
	for _, r := range requests(t) {
		info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(r.target)}
		buffer := make([]byte, 0, 2*len(r.body))
		allocs := leastAllocs(func() {
			_, _, fault := pairs.RenderInParts(buffer, r.source, r.target, r.body, info)
			require.Nil(t, fault)
		})
		limit := 10.0
		switch r.target {
		case translate.Gemini:
			limit = 50 // the ids of the 31 calls are kept for their results
		case translate.Converse:
			limit = 16 // the names of the tools that were called are kept
		}
		if r.source == translate.Gemini {
			limit = 120 // the ids and the names of the 31 calls are kept for their results, and the tools are converted
		}
		assert.LessOrEqual(t, allocs, limit, "%s to %s", r.source, r.target)
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, r := range requests(b) {
		b.Run(string(r.source)+"-"+string(r.target), func(b *testing.B) { benchmarkRender(b, r.source, r.target, r.body) })
	}
}

func benchmarkRender(b *testing.B, source, target translate.Format, body []byte) {
	b.Helper()
	info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(target)}
	buffer := make([]byte, 0, 2*len(body))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, fault := pairs.RenderInParts(buffer, source, target, body, info); fault != nil {
			b.Fatal(fault)
		}
	}
}
