package exchange

import (
	"context"
	"maps"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Conduit carries an attempt from the gateway to the transport, and its result back. It is
// in the context of the request if reverse_proxy is between the two.
type Conduit struct {
	Attempt Attempt
	Result  Result        // of the last call
	Started time.Duration // of the last call, since the start of the exchange

	// Addresses are the addresses that the selection policy has chosen for the attempt.
	Addresses []string
}

// Begin resets the result for another call of the same attempt: reverse_proxy makes a
// call for each address that it tries. Result.Sent stays true if a previous address may
// have received the request, and Result.Parts keeps what it has answered.
func (c *Conduit) Begin() (*Attempt, *Result) {
	c.Result = Result{Sent: c.Result.Sent, Parts: c.Result.Parts}
	return &c.Attempt, &c.Result
}

type conduitKey struct{}

// WithConduit returns a context with c and with own variables.
func WithConduit(ctx context.Context, c *Conduit) context.Context {
	return context.WithValue(WithOwnVars(ctx), conduitKey{}, c)
}

// ConduitFrom returns the conduit in ctx, nil if there is none, as in active health checks.
func ConduitFrom(ctx context.Context) *Conduit {
	c, _ := ctx.Value(conduitKey{}).(*Conduit)
	return c
}

// ModelsQuery is a query for one page of a provider's list of models. The gateway sets the
// first group of fields, the transport the second.
type ModelsQuery struct {
	Format   *format.Descriptor // the format whose endpoint is asked
	Traits   *trait.Traits      // of the provider
	Previous string             // the id after which the page begins; "" for the first page
	Loaded   string             // the path of the list of loaded models, which is asked instead; "" for the usual list

	Status int    // status of the provider, 0 before it answers
	Page   []byte // the page, if the status is 200; nil if it cannot be read, or repeats the credential
}

type modelsQueryKey struct{}

// WithModelsQuery returns a context with q.
func WithModelsQuery(ctx context.Context, q *ModelsQuery) context.Context {
	return context.WithValue(ctx, modelsQueryKey{}, q)
}

// ModelsQueryFrom returns the query in ctx, nil if there is none.
func ModelsQueryFrom(ctx context.Context) *ModelsQuery {
	q, _ := ctx.Value(modelsQueryKey{}).(*ModelsQuery)
	return q
}

// varsKey is caddyhttp.VarsCtxKey. The package caddyhttp is most of a Caddy, and would be
// part of every program that knows what an exchange is.
const varsKey caddy.CtxKey = "vars"

// WithOwnVars returns a context with a copy of the request's map of variables. Dials read
// the map without a lock. A dial of an earlier attempt may read it while the next attempt
// writes to it, and several calls may dial concurrently (T2).
func WithOwnVars(ctx context.Context) context.Context {
	vars, _ := ctx.Value(varsKey).(map[string]any)
	own := maps.Clone(vars)
	if own == nil {
		own = make(map[string]any)
	}
	return context.WithValue(ctx, varsKey, own)
}

// WithoutVars returns a context without variables of the request, for calls in which nothing
// sets any.
func WithoutVars(ctx context.Context) context.Context {
	return context.WithValue(ctx, varsKey, nil)
}

// EndCause is a cause with which the gateway ends the context of an exchange while the client
// is still there: a shutdown, or a deadline.
type EndCause string

func (e EndCause) Error() string { return string(e) }
