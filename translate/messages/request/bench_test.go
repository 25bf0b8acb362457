package request_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	messagesanswer "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// agentBody is a request as coding agents send them late in a session: about
// 100 KB, 30 tools and 60 messages.
func agentBody() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-5","messages":[`)
	prose := strings.Repeat(`Look at the file \"main.go\" and say what it does.\nThen change it. `, 12)
	for i := range 30 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}],"is_error":false,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"go on"}]},`, i, prose)
		fmt.Fprintf(&b, `{"role":"assistant","content":[{"type":"thinking","thinking":"%s","signature":"EqQBCgIYAhIM%d"},{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"path":"/src/main.go","limit":%d}}]}`, prose[:400], i, i+1, i)
	}
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

func TestInspectAllocatesOnlyTheModel(t *testing.T) {
	body := agentBody()
	allocs := testing.AllocsPerRun(20, func() {
		_, fault := request.Inspect(body, translate.Generate)
		require.Nil(t, fault)
	})
	require.LessOrEqual(t, allocs, 1.0)
}

func BenchmarkInspect(b *testing.B) {
	body := agentBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := request.Inspect(body, translate.Generate); fault != nil {
			b.Fatal(fault)
		}
	}
}

func BenchmarkInspectBaselineJSONValid(b *testing.B) {
	body := agentBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if !json.Valid(body) {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkObserveDelta(b *testing.B) {
	observer := messagesanswer.NewObserver()
	delta := sse.Event{
		Name: []byte("content_block_delta"),
		Data: []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if !observer.Observe(delta).Has(signal.Content) {
			b.Fatal("no content")
		}
	}
}
