package exchange

import "context"

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
