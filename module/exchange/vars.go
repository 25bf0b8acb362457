package exchange

import (
	"context"
	"maps"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// WithOwnVars returns a context with a copy of the request's map of variables. The map
// has no lock, and dials read it: a dial that an attempt has left behind may run while
// the next attempt writes to the map, and several calls dial at once.
func WithOwnVars(ctx context.Context) context.Context {
	vars, _ := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any)
	own := maps.Clone(vars)
	if own == nil {
		own = make(map[string]any)
	}
	return context.WithValue(ctx, caddyhttp.VarsCtxKey, own)
}
