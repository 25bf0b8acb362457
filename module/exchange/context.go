package exchange

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Conduit connects the gateway with the transport. Between them may be reverse_proxy,
// which passes on only a context, a request and a response.
type Conduit struct {
	Attempt Attempt
	Result  Result // of the last call

	// Addresses are the addresses that a policy of this module has chosen so far.
	Addresses []string
}

// Begin resets the result for another call of the same attempt: reverse_proxy makes a
// call for each address that it tries. Result.Sent stays true if a previous address may
// have received the request.
func (c *Conduit) Begin() (*Attempt, *Result) {
	c.Result = Result{Sent: c.Result.Sent}
	return &c.Attempt, &c.Result
}

type conduitKey struct{}

// WithConduit returns a context that carries c to the transport.
func WithConduit(ctx context.Context, c *Conduit) context.Context {
	return context.WithValue(ctx, conduitKey{}, c)
}

// ConduitFrom returns the conduit that ctx carries, nil if there is none, as in active
// health checks.
func ConduitFrom(ctx context.Context) *Conduit {
	c, _ := ctx.Value(conduitKey{}).(*Conduit)
	return c
}

// ModelsQuery asks a provider for one page of its own list of models. The
// gateway fills the first group of fields; the transport, the second.
type ModelsQuery struct {
	Format *format.Descriptor // whose endpoint is asked
	Traits *trait.Traits      // of the provider
	After  string             // the id after which the page begins; "" for the first one

	Status int    // the provider's status, 0 while none came
	Page   []byte // the page, where the status is 200; nil if it cannot be read, or repeats the credential
}

type modelsQueryKey struct{}

// WithModelsQuery returns a context that carries q to the transport.
func WithModelsQuery(ctx context.Context, q *ModelsQuery) context.Context {
	return context.WithValue(ctx, modelsQueryKey{}, q)
}

// ModelsQueryFrom returns the query that ctx carries, nil if there is none.
func ModelsQueryFrom(ctx context.Context) *ModelsQuery {
	q, _ := ctx.Value(modelsQueryKey{}).(*ModelsQuery)
	return q
}
