package observability_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A call of a tool is an exchange in the metrics, and a span in the trace, as a call of a provider is: with the server
// in place of a provider and the tool in place of a model, and with nothing of its arguments. The names of tools, of
// which clients can make up any, are no labels.
func TestACallOfAToolIsInMetricsAndTraces(t *testing.T) {
	spans.Reset()
	t.Setenv("OTEL_TRACES_EXPORTER", "memory")
	t.Setenv("UP_TOKEN", "good")
	site.SetKeys(t)
	server := startToolServer(t, map[string]string{"tools/call": `{"content":[{"type":"text","text":"my answer"}]}`})
	s := site.StartCaddyfile(t, site.Block("tracing {\nspan site\n}", site.DemoProvider, "key alice {env.KEY_ALICE} {\nmcp measured\n}",
		"mcp measured {\nto "+server.URL+"\nauth bearer {env.UP_TOKEN}\n}"))
	answer := s.Call(http.MethodPost, s.URL("site", "/mcp/measured"), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"my secret"}}}`,
		"Authorization", "Bearer "+site.AliceKey)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	s.Record(answer.ID())
	series := scrape(t, s)
	assert.Equal(t, "1", series[`exchanges_total{format="mcp",model="mcp/measured",outcome="answered",provider="mcp/measured"}`])
	assert.Equal(t, "1", series[`attempts_total{model="mcp/measured",provider="mcp/measured",result="answered"}`])
	for name := range series {
		assert.NotContains(t, name, "search")
	}
	calls, whole := finish(t, s)
	require.Len(t, calls, 1)
	assert.Equal(t, "mcp search", calls[0].Name)
	assert.Equal(t, whole.SpanContext.SpanID(), calls[0].Parent.SpanID())
	assert.Equal(t, "mcp/measured", attributesOf(calls[0])["ai_gateway.provider"])
	assert.Equal(t, "mcp/measured/search", attributesOf(whole)["gen_ai.request.model"])
	for _, span := range append(calls, whole) {
		assert.NotContains(t, fmt.Sprint(attributesOf(span)), "my ")
	}
}
