package gateway

import (
	"context"
	"maps"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// withOwnVars gives ctx a copy of the request's map of variables. The map has
// no lock: a dial goroutine left over by one attempt may read it while the
// next attempt writes.
func withOwnVars(ctx context.Context) context.Context {
	vars, _ := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any)
	own := maps.Clone(vars)
	if own == nil {
		own = make(map[string]any)
	}
	return context.WithValue(ctx, caddyhttp.VarsCtxKey, own)
}
