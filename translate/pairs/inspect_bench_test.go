package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// shortTurns is a chat request with many short messages: a strict pass takes most of its
// time for the names of members.
func shortTurns() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m1","messages":[`)
	for i := range 50 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"And what is %d?"},{"role":"assistant","content":"It is %d."}`, i, i)
	}
	b.WriteString(`,{"role":"user","content":"Thanks."}],"stream":true}`)
	return []byte(b.String())
}

// agentRequests returns requests as coding agents send them late in a session, by the formats.
func agentRequests(tb testing.TB) map[translate.Format][]byte {
	tb.Helper()
	return map[translate.Format][]byte{
		translate.Messages:    agentRequest(),
		translate.Chat:        chatAgentRequest(tb),
		translate.Responses:   asResponses(tb, agentRequest()),
		translate.Gemini:      asGemini(tb, agentRequest()),
		translate.Completions: []byte(`{"model":"m1","prompt":"` + strings.Repeat(`func main() {\n`, 500) + `","max_tokens":9}`),
	}
}

func TestInspectAllocatesOnlyTheModelAndTheListOfTexts(t *testing.T) {
	bodies := agentRequests(t)
	for _, d := range formats.All() {
		allocs := leastAllocs(func() {
			_, fault := d.Requests.Inspect(bodies[d.Name], translate.Generate)
			require.Nil(t, fault)
		})
		assert.LessOrEqual(t, allocs, 2.0, d.Name)
	}
}

func BenchmarkInspect(b *testing.B) {
	for format, body := range agentRequests(b) {
		b.Run(string(format), func(b *testing.B) { benchmarkInspect(b, format, body) })
	}
	b.Run("short-turns", func(b *testing.B) { benchmarkInspect(b, translate.Chat, shortTurns()) })
}

func benchmarkInspect(b *testing.B, format translate.Format, body []byte) {
	b.Helper()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := formats.Of(format).Requests.Inspect(body, translate.Generate); fault != nil {
			b.Fatal(fault)
		}
	}
}
