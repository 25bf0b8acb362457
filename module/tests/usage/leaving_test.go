package usage_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func init() {
	caddy.RegisterModule(leaving{})
	httpcaddyfile.RegisterHandlerDirective("leaving", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) { return leaving{}, nil })
	httpcaddyfile.RegisterDirectiveOrder("leaving", httpcaddyfile.Before, "header")
}

// leaving is a handler that stands before the gateway, and sees when the server notices
// that a client has left.
type leaving struct{}

// left gets an element for each request whose client has left, or whose answer has ended.
var left = make(chan struct{}, 16)

func (leaving) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.leaving", New: func() caddy.Module { return leaving{} }}
}

func (leaving) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	context.AfterFunc(r.Context(), func() { left <- struct{}{} })
	return next.ServeHTTP(w, r)
}

// waitLeft waits until the server has noticed that a client has left.
func waitLeft(t *testing.T) {
	t.Helper()
	select {
	case <-left:
	case <-site.Waiting(t).Done():
		require.FailNow(t, "the server does not notice that the client has left")
	}
}

var _ caddyhttp.MiddlewareHandler = leaving{}
