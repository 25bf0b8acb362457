package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// BenchmarkOneCall measures the usual calls of a chat provider, which have one prompt and one
// answer, and a call that is refused.
func BenchmarkOneCall(b *testing.B) {
	stream := strings.Repeat(chunkText, 100) + chunkFinish + chunkUsage + done
	for _, bench := range []struct {
		name   string
		client translate.Format
		body   string
		status int
		kind   string
		answer string
	}{
		{"byte lane/stream", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true}`, http.StatusOK, "text/event-stream", stream},
		{"byte lane/JSON", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, http.StatusOK, "application/json", answer},
		{"byte lane/refused", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, http.StatusTooManyRequests, "application/json", `{"error":{"message":"slow down","type":"rate_limit"}}`},
		{"translated/stream", translate.Completions, `{"model":"m","prompt":"a","stream":true}`, http.StatusOK, "text/event-stream", stream},
		{"translated/JSON", translate.Completions, `{"model":"m","prompt":"a"}`, http.StatusOK, "application/json", answer},
	} {
		b.Run(bench.name, func(b *testing.B) {
			inner := answers(func(r *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
				return responds(bench.status, bench.kind, io.NopCloser(strings.NewReader(bench.answer))), nil
			})
			ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(bench.client), Client: http.Header{}, Body: []byte(bench.body)}}
			view, fault := ex.Format.Requests.Inspect(ex.Body, translate.Generate)
			require.Nil(b, fault)
			ex.View = view
			transport, traits := newTransport(inner), new(trait.Traits)
			setCredential(transport, "sk-secret")
			b.ReportAllocs()
			for b.Loop() {
				a := &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(translate.Chat), Model: "m", Traits: traits}
				if got := carry(b, transport, a); got.Status != bench.status || got.Whole() != (bench.status == http.StatusOK) {
					b.Fatal(got.Fault)
				}
			}
		})
	}
}
