// Package tracing adds exchanges to the traces of Caddy's directive "tracing": attributes of
// Caddy's span for the exchange, and a child span for each call of a provider.
//
// Without the directive, tracing costs nothing. Each span ends once, also after a panic.
// Spans contain names, numbers and ids; they never contain texts of errors or credentials. They
// contain prompts and answers only if RequestContent and AnswerContent set them. A provider gets
// only the header traceparent, and only if its configuration asks for that: tracestate and baggage
// may contain texts of clients.
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

// scope is the name of the tracer.
const scope = "github.com/caddy-ai-gateway/caddy-ai-gateway"

// EndExchange sets the attributes of the site's span. usd is the cost of the calls; known is
// false if it is unknown. Only the spans of calls have the usage, so that each token is
// counted once.
func EndExchange(ctx context.Context, ex *exchange.Exchange, usd float64, known bool) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	all := append(request(ex, ex.Request.View.Model),
		attribute.String(ownRequestID, ex.ID),
		attribute.String(ownOutcome, string(ex.Delivery.Outcome)),
		attribute.Int(ownAttempts, ex.Course.Attempts()),
	)
	if ex.Key != nil {
		all = append(all, attribute.String(ownKeyID, ex.Key.ID))
	}
	if ex.Course.Attempt != nil {
		all = append(all, provider(ex.Course.Attempt)...)
	}
	if ex.Course.Result != nil && ex.Course.Result.Head.AnsweredBy != "" {
		all = append(all, attribute.String(responseModel, ex.Course.Result.Head.AnsweredBy))
	}
	if ex.Delivery.Fault != nil {
		all = append(all, attribute.String(errorType, ex.Delivery.Fault.Kind.String()))
	}
	if known {
		all = append(all, attribute.Float64(ownCost, usd))
	}
	span.SetAttributes(all...)
}

// request returns the attributes of a request. model is the name of the model in the request
// of the client or to the provider.
func request(ex *exchange.Exchange, model string) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 16)
	all = append(all, attribute.String(operationName, operation(ex)))
	if model != "" {
		all = append(all, attribute.String(requestModel, model))
	}
	if ex.Request.Streaming() {
		all = append(all, attribute.Bool(requestStream, true))
	}
	if ex.Request.View.MaxTokens > 0 {
		all = append(all, attribute.Int64(requestMax, ex.Request.View.MaxTokens))
	}
	if ex.Request.View.Answers > 1 {
		all = append(all, attribute.Int64(requestChoices, ex.Request.View.Answers))
	}
	return all
}

// operation returns the name of an operation in the conventions, which have "embeddings" of
// those that are not the generation of text.
func operation(ex *exchange.Exchange) string {
	if ex.Request.Operation == translate.Generate {
		return ex.Request.Format.TraceOperation
	}
	return ex.Request.Operation.String()
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

// StartCall starts the span of a call if the site's span is recorded. The returned context,
// which is for the transport, has the span.
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

// End sets the attributes for the result of the call, and ends the span.
func (c Call) End(conduit *exchange.Conduit) {
	if c.span == nil {
		return
	}
	defer c.span.End()
	r, summary := &conduit.Result, conduit.Summary()
	all := append(usage(r), attribute.String(ownCallOutcome, string(summary.End)))
	if r.Head.RequestID != "" {
		all = append(all, attribute.String(ownUpstreamID, r.Head.RequestID))
	}
	if r.Head.AnsweredBy != "" {
		all = append(all, attribute.String(responseModel, r.Head.AnsweredBy))
	}
	if !r.Times.Began.IsZero() {
		all = append(all, attribute.Float64(firstChunk, r.Times.Began.Sub(r.Times.Called).Seconds()))
	}
	if !summary.End.IsWhole() {
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
		attribute.Int64(inputTokens, u.Input()),
		attribute.Int64(outputTokens, u.Output()),
	)
	for _, part := range [...]struct {
		name string
		n    int64
	}{{cacheReadTokens, u.CacheRead}, {cacheWriteTokens, u.Written()}, {reasoningTokens, u.Reasoning}} {
		if part.n > 0 {
			all = append(all, attribute.Int64(part.name, part.n))
		}
	}
	return all
}
