package exchange

import (
	"context"
	"maps"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// WithOwnVars gives ctx a copy of the request's map of variables. The map has
// no lock, and a dial reads it: one left over by an attempt while the next
// attempt writes, or those of several calls at once.
func WithOwnVars(ctx context.Context) context.Context {
	vars, _ := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any)
	own := maps.Clone(vars)
	if own == nil {
		own = make(map[string]any)
	}
	return context.WithValue(ctx, caddyhttp.VarsCtxKey, own)
}
