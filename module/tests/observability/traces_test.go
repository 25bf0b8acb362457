package observability_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
)

// startTraced runs a traced site whose model "m" leads to two providers.
func startTraced(t *testing.T, w site.Way, traceUpstream string) (s *site.Site, first, second *gatewaytest.Provider) {
	t.Helper()
	spans.Reset()
	t.Setenv("OTEL_TRACES_EXPORTER", "memory")
	first, second = gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s = site.StartCaddyfile(t, site.Block("tracing {\nspan site\n}",
		w.Provider("first", first, "models 1", "trace_upstream "+traceUpstream), w.Provider("second", second, "models 2"),
		"model m {\nto first\nto second\n}"))
	return s, first, second
}

// finish replaces the site by one without traces, at which Caddy exports its spans, and
// returns them: those of calls, and that of the site.
func finish(t *testing.T, s *site.Site) (calls tracetest.SpanStubs, whole tracetest.SpanStub) {
	t.Helper()
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider)))
	for _, span := range spans.GetSpans() {
		if span.Name == "site" {
			require.Empty(t, whole.Name)
			whole = span
			continue
		}
		calls = append(calls, span)
	}
	require.NotEmpty(t, whole.Name)
	return calls, whole
}

func attributesOf(span tracetest.SpanStub) map[string]any {
	all := make(map[string]any)
	for _, a := range span.Attributes {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

// L060: one trace, with the client's as its beginning and a span for each call. The
// providers get their position in it, and nothing else of the client's trace.
func TestL060ExchangesAreOneTrace(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s, first, second := startTraced(t, w, "on")
		first.Script(gatewaytest.Status(529))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "my secret", true),
			"Traceparent", "00-"+clientTrace+"-"+clientSpan+"-01", "Tracestate", "vendor=text", "Baggage", "user=text")
		require.Equal(t, http.StatusOK, answer.Status)

		calls, whole := finish(t, s)
		assert.Equal(t, clientSpan, whole.Parent.SpanID().String())
		require.Len(t, calls, 2)
		for i, p := range []*gatewaytest.Provider{first, second} {
			span := calls[i].SpanContext
			assert.Equal(t, clientTrace, span.TraceID().String())
			assert.Equal(t, whole.SpanContext.SpanID(), calls[i].Parent.SpanID())
			assert.Equal(t, "chat m", calls[i].Name)
			assert.Equal(t, "client", calls[i].SpanKind.String())
			sent := p.Requests()[0].Header
			assert.Equal(t, "00-"+clientTrace+"-"+span.SpanID().String()+"-01", sent.Get("Traceparent"))
			assert.NotContains(t, sent, "Tracestate")
			assert.NotContains(t, sent, "Baggage")
		}
		assert.Equal(t, "overloaded", attributesOf(calls[0])["error.type"])
		assert.Equal(t, "first", attributesOf(calls[0])["ai_gateway.provider"])
		assert.Equal(t, "127.0.0.1", attributesOf(calls[1])["server.address"])
		assert.Contains(t, attributesOf(calls[1]), "gen_ai.usage.input_tokens")
		assert.Contains(t, attributesOf(calls[1]), "gen_ai.response.time_to_first_chunk")
		assert.Equal(t, "answered", attributesOf(whole)["ai_gateway.outcome"])
		assert.Equal(t, "client", attributesOf(whole)["ai_gateway.key_id"])
		assert.NotContains(t, attributesOf(whole), "gen_ai.usage.input_tokens", "each token counts once")
		for _, span := range append(calls, whole) {
			for name, value := range attributesOf(span) {
				text, _ := value.(string)
				assert.False(t, strings.Contains(text, "secret") || strings.Contains(text, site.ClientKey), name)
			}
		}
	})
}

// A hosted provider, and any other without the trait, does not learn of traces.
func TestProvidersWithoutTheTraitGetNoTrace(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s, first, _ := startTraced(t, w, "off")
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Traceparent", "00-"+clientTrace+"-"+clientSpan+"-01")
		require.Equal(t, http.StatusOK, answer.Status)
		assert.NotContains(t, first.Requests()[0].Header, "Traceparent")
		calls, _ := finish(t, s)
		assert.Len(t, calls, 1)
	})
}

// L026: a panic ends the spans of the exchange, which do not quote it.
func TestL026SpansEndAfterPanics(t *testing.T) {
	for _, model := range []string{"at-once", "later"} {
		spans.Reset()
		t.Setenv("OTEL_TRACES_EXPORTER", "memory")
		t.Run(model, func(t *testing.T) {
			s := site.StartCaddyfile(t, site.Block("tracing {\nspan site\n}", "provider panicking"))
			s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", true))
			calls, whole := finish(t, s)
			require.Len(t, calls, 1)
			assert.Contains(t, []any{"failed", "cut"}, attributesOf(whole)["ai_gateway.outcome"])
			for _, span := range append(calls, whole) {
				assert.NotContains(t, span.Events, site.PanicText)
				for name, value := range attributesOf(span) {
					assert.NotEqual(t, site.PanicText, value, name)
				}
			}
		})
	}
}
