// Package tracing shows exchanges in the traces of Caddy's directive "tracing": the
// exchange as attributes of Caddy's span, and each call of a provider as a span below
// it.
//
// It promises that a site without the directive pays nothing for traces, that each span
// ends once, after a panic too, and that spans have names, numbers and ids. It refuses
// prompts, answers, texts of errors and credentials. Providers get nothing but the
// header traceparent, and only if their configuration wants it: tracestate and baggage
// are texts of clients.
package tracing

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// scope names the gateway as the source of spans.
const scope = "github.com/caddy-ai-gateway/caddy-ai-gateway"

// EndExchange sets the attributes of the site's span. Usage is on the spans of calls
// alone, where each token is counted once. usd is what the calls cost, known if all of
// their prices are.
func EndExchange(ctx context.Context, ex *exchange.Exchange, usd float64, known bool) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	all := append(request(ex, ex.View.Model),
		attribute.String(ownRequestID, ex.ID),
		attribute.String(ownOutcome, string(ex.Outcome)),
		attribute.Int(ownAttempts, ex.Attempts),
	)
	if ex.Key != nil {
		all = append(all, attribute.String(ownKeyID, ex.Key.ID))
	}
	if ex.Attempt != nil {
		all = append(all, provider(ex.Attempt)...)
	}
	if ex.Result != nil && ex.Result.AnsweredBy != "" {
		all = append(all, attribute.String(responseModel, ex.Result.AnsweredBy))
	}
	if ex.Fault != nil {
		all = append(all, attribute.String(errorType, ex.Fault.Kind.String()))
	}
	if known {
		all = append(all, attribute.Float64(ownCost, usd))
	}
	span.SetAttributes(all...)
}

// request returns what is asked for, of a model by the name that is used there.
func request(ex *exchange.Exchange, model string) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 16)
	all = append(all, attribute.String(operationName, operation(ex)))
	if model != "" {
		all = append(all, attribute.String(requestModel, model))
	}
	if ex.Streaming() {
		all = append(all, attribute.Bool(requestStream, true))
	}
	if ex.View.MaxTokens > 0 {
		all = append(all, attribute.Int64(requestMax, ex.View.MaxTokens))
	}
	if ex.View.Answers > 1 {
		all = append(all, attribute.Int64(requestChoices, ex.View.Answers))
	}
	return all
}

// operation returns the name that the conventions have for an operation; counting
// tokens has none.
func operation(ex *exchange.Exchange) string {
	if ex.Operation == translate.CountTokens {
		return "count_tokens"
	}
	return ex.Format.TraceOperation
}

// provider returns the names of a call's provider.
func provider(a *exchange.Attempt) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String(ownProvider, a.Provider),
		attribute.String(providerName, cmp.Or(services[a.Service], a.Service)),
	}
}

// Call is the span of a call of a provider. The zero Call is not traced.
type Call struct{ span trace.Span }

// StartCall starts the span of a call, if the site's span is recorded. The returned
// context carries it to the transport.
func StartCall(ctx context.Context, a *exchange.Attempt) (context.Context, Call) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Call{}
	}
	attributes := append(request(a.Exchange, a.Model), provider(a)...)
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, operation(a.Exchange)+" "+a.Model,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, Call{span}
}

// End ends the span with what came of the call.
func (c Call) End(conduit *exchange.Conduit) {
	if c.span == nil {
		return
	}
	defer c.span.End()
	r, summary := &conduit.Result, conduit.Summary()
	all := append(usage(r), attribute.String(ownCallOutcome, string(summary.End)))
	if r.RequestID != "" {
		all = append(all, attribute.String(ownUpstreamID, r.RequestID))
	}
	if r.AnsweredBy != "" {
		all = append(all, attribute.String(responseModel, r.AnsweredBy))
	}
	if !r.Began.IsZero() {
		all = append(all, attribute.Float64(firstChunk, r.Began.Sub(r.Called).Seconds()))
	}
	if summary.End != exchange.CallAnswered {
		all = append(all, attribute.String(errorType, string(summary.End)))
		c.span.SetStatus(codes.Error, string(summary.End))
	}
	c.span.SetAttributes(all...)
}

// usage returns the numbers of tokens that the provider reported.
func usage(r *exchange.Result) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 12)
	u := r.Usage
	if !u.Known {
		return all
	}
	all = append(all,
		attribute.Int64(inputTokens, u.TotalInput()),
		attribute.Int64(outputTokens, u.Output),
	)
	for _, part := range [...]struct {
		name string
		n    int64
	}{{cacheReadTokens, u.CacheRead}, {cacheWriteTokens, u.CacheWrite}, {reasoningTokens, u.Reasoning}} {
		if part.n > 0 {
			all = append(all, attribute.Int64(part.name, part.n))
		}
	}
	return all
}
