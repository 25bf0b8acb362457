package tracing_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func newConduit() *exchange.Conduit {
	ex := &exchange.Exchange{
		ID:      "req_1",
		Key:     &aigateway.Key{ID: "team"},
		Request: exchange.Request{Format: formats.Of(translate.Messages), View: translate.View{Model: "assistant", Stream: true, MaxTokens: 64, Answers: 2}},
	}
	c := &exchange.Conduit{Attempt: exchange.Attempt{Exchange: ex, Provider: "work", Service: "mistral", Model: "upstream"}}
	ex.Course.Begin(c, 0)
	return c
}

// record returns the spans that happens creates below the span of a site.
func record(t *testing.T, happens func(context.Context), options ...sdktrace.TracerProviderOption) tracetest.SpanStubs {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(append(options, sdktrace.WithSyncer(exporter))...)
	ctx, span := provider.Tracer("site").Start(t.Context(), "site")
	func() {
		defer span.End()
		defer func() { _ = recover() }() // of a panic that the test begins
		happens(ctx)
	}()
	return exporter.GetSpans()
}

func attributes(span tracetest.SpanStub) map[string]any {
	all := make(map[string]any)
	for _, a := range span.Attributes {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

func TestSpansOfAnAnsweredExchange(t *testing.T) {
	c := newConduit()
	spans := record(t, func(ctx context.Context) {
		ctx, call := tracing.StartCall(ctx, &c.Attempt)
		out, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://10.0.0.7:8000/v1", nil)
		require.NoError(t, err)
		tracing.NoteAddress(out)
		c.Result = exchange.Result{
			Status: 200,
			Usage:  token.Usage{Counts: token.Counts{Fresh: 3, CacheRead: 4, CacheWrite: 5, Answer: 4, Reasoning: 2}, Known: true},
			Head:   exchange.Head{RequestID: "up_1", AnsweredBy: "upstream-2026"},
			Times:  exchange.Times{Called: time.Unix(10, 0), Began: time.Unix(12, 0)},
		}
		c.Result.Finish(c.Result.Usage)
		call.End(c)
		c.Attempt.Exchange.Delivery.Outcome = exchange.Answered
		tracing.EndExchange(ctx, c.Attempt.Exchange, .25, true)
	})
	require.Len(t, spans, 2)
	assert.Equal(t, "chat upstream", spans[0].Name)
	assert.Equal(t, "client", spans[0].SpanKind.String())
	assert.Equal(t, spans[1].SpanContext.SpanID(), spans[0].Parent.SpanID())
	assert.Equal(t, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "mistral_ai", "gen_ai.request.model": "upstream",
		"gen_ai.request.stream": true, "gen_ai.request.max_tokens": int64(64), "gen_ai.request.choice.count": int64(2),
		"gen_ai.response.model": "upstream-2026", "gen_ai.response.time_to_first_chunk": 2.0,
		"gen_ai.usage.input_tokens": int64(12), "gen_ai.usage.cache_read.input_tokens": int64(4), "gen_ai.usage.cache_write.input_tokens": int64(5),
		"gen_ai.usage.output_tokens": int64(6), "gen_ai.usage.reasoning.output_tokens": int64(2),
		"server.address": "10.0.0.7", "server.port": int64(8000),
		"ai_gateway.provider": "work", "ai_gateway.upstream_request_id": "up_1", "ai_gateway.call_outcome": "answered",
	}, attributes(spans[0]))
}

func TestAttributesOfTheSiteAreThoseOfTheExchange(t *testing.T) {
	c := newConduit()
	ex := c.Attempt.Exchange
	ex.Delivery.Outcome, ex.Delivery.Fault = exchange.Failed, fault.ShuttingDown()
	spans := record(t, func(ctx context.Context) { tracing.EndExchange(ctx, ex, .25, true) })
	require.Len(t, spans, 1)
	assert.Equal(t, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "mistral_ai", "gen_ai.request.model": "assistant",
		"gen_ai.request.stream": true, "gen_ai.request.max_tokens": int64(64), "gen_ai.request.choice.count": int64(2),
		"error.type":            ex.Delivery.Fault.Kind.String(),
		"ai_gateway.request_id": "req_1", "ai_gateway.key_id": "team", "ai_gateway.provider": "work",
		"ai_gateway.outcome": "failed", "ai_gateway.attempts": int64(1), "ai_gateway.cost_usd": .25,
	}, attributes(spans[0]))
}

// The text of an error may quote the prompt; its kind does not.
func TestSpansOfFailuresHaveNoTexts(t *testing.T) {
	c := newConduit()
	spans := record(t, func(ctx context.Context) {
		_, call := tracing.StartCall(ctx, &c.Attempt)
		c.Result.Status = 529
		c.Result.Fail(&fault.Fault{Kind: fault.Overloaded, Message: "my secret", Quoted: true})
		call.End(c)
	})
	require.Len(t, spans, 2)
	assert.Equal(t, "Error", spans[0].Status.Code.String())
	assert.Equal(t, "overloaded", spans[0].Status.Description)
	assert.Equal(t, "overloaded", attributes(spans[0])["error.type"])
	assert.Empty(t, spans[0].Events)
}

// An answer of the cache was shown as an error.
func TestSpansOfCachedAnswersAreNoErrors(t *testing.T) {
	c := newConduit()
	spans := record(t, func(ctx context.Context) {
		_, call := tracing.StartCall(ctx, &c.Attempt)
		c.Result.Reading.Cached = true
		c.Result.Finish(token.Usage{})
		call.End(c)
	})
	assert.Equal(t, "Unset", spans[0].Status.Code.String())
	assert.Equal(t, "cached", attributes(spans[0])["ai_gateway.call_outcome"])
	assert.NotContains(t, attributes(spans[0]), "error.type")
}

func TestSpansEndAfterPanics(t *testing.T) {
	c := newConduit()
	spans := record(t, func(ctx context.Context) {
		_, call := tracing.StartCall(ctx, &c.Attempt)
		defer call.End(c)
		panic("my secret")
	})
	require.Len(t, spans, 2)
	assert.Empty(t, spans[0].Events)
}

// traceparent has the position of the call's span. A site that is not sampled has no spans,
// but it has a position. No other header of the client's trace is sent.
func TestPositionsInTraces(t *testing.T) {
	for name, sampler := range map[string]sdktrace.Sampler{"01": sdktrace.AlwaysSample(), "00": sdktrace.NeverSample()} {
		record(t, func(ctx context.Context) {
			ctx, call := tracing.StartCall(ctx, &newConduit().Attempt)
			defer call.End(newConduit())
			out, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost", nil)
			require.NoError(t, err)
			tracing.Forward(out)
			require.Len(t, out.Header, 1)
			assert.Regexp(t, "^00-[0-9a-f]{32}-[0-9a-f]{16}-"+name+"$", out.Header.Get("Traceparent"))
		}, sdktrace.WithSampler(sampler))
	}
}

// L061: without the directive, tracing costs nothing.
func TestL061NoTracesCostNothing(t *testing.T) {
	c := newConduit()
	out, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost", nil)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ctx, call := tracing.StartCall(out.Context(), &c.Attempt)
		tracing.NoteAddress(out)
		tracing.Forward(out)
		call.End(c)
		tracing.EndExchange(ctx, c.Attempt.Exchange, 0, false)
	}))
	assert.Empty(t, out.Header)
}
