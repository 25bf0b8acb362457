package exchange

import (
	"context"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

type attemptKey struct{}

// WithAttempt returns a context that carries a to the transport.
func WithAttempt(ctx context.Context, a *Attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// AttemptFrom returns the attempt that ctx carries. It is nil for requests
// that are no attempt, such as active health checks.
func AttemptFrom(ctx context.Context) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// ModelsQuery asks a provider for one page of its own list of models. The
// gateway fills the first group of fields; the transport, the second.
type ModelsQuery struct {
	Format translate.Format // whose endpoint is asked
	After  string           // the id after which the page begins; "" for the first one

	Status int    // the provider's status, 0 while none came
	Page   []byte // the page, where the status is 200; nil if it cannot be read, or repeats the credential
}

type modelsQueryKey struct{}

// WithModelsQuery returns a context that carries q to the transport.
func WithModelsQuery(ctx context.Context, q *ModelsQuery) context.Context {
	return context.WithValue(ctx, modelsQueryKey{}, q)
}

// ModelsQueryFrom returns the query that ctx carries, nil when there is none.
func ModelsQueryFrom(ctx context.Context) *ModelsQuery {
	q, _ := ctx.Value(modelsQueryKey{}).(*ModelsQuery)
	return q
}
