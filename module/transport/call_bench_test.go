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

// BenchmarkOneTranslatedCall measures the usual translated request, which has one prompt and
// one answer.
func BenchmarkOneTranslatedCall(b *testing.B) {
	stream := strings.Repeat(chunkText, 100) + chunkFinish + chunkUsage + done
	inner := answers(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader(stream)), ContentLength: -1,
		}, nil
	})
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(translate.Completions), Client: http.Header{}, Body: []byte(`{"model":"m","prompt":"a","stream":true}`)}}
	view, fault := ex.Format.Requests.Inspect(ex.Body, translate.Generate)
	require.Nil(b, fault)
	ex.View = view
	transport, traits := newTransport(inner), new(trait.Traits)
	b.ReportAllocs()
	for b.Loop() {
		a := &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(translate.Chat), Model: "m", Traits: traits}
		if got := carry(b, transport, a); !got.Whole() {
			b.Fatal(got.Fault)
		}
	}
}
