package exchange

import (
	"context"
	"maps"

	"github.com/caddyserver/caddy/v2"
)

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
