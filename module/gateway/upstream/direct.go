package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// direct calls the transport without reverse_proxy.
type direct struct{ transport http.RoundTripper }

func newDirect(ctx caddy.Context, transport json.RawMessage) (exchange.Caller, error) {
	mod, err := ctx.LoadModuleByID("http.reverse_proxy.transport.ai", transport)
	if err != nil {
		return nil, fmt.Errorf("loading transport: %w", err)
	}
	return &direct{mod.(http.RoundTripper)}, nil
}

// nowhere is the URL of a request before the transport sets one. The client's URL must not
// be used, because it can contain a host.
var nowhere = new(url.URL)

// Call implements exchange.Caller.
func (d *direct) Call(to exchange.Receiver, r *http.Request) error {
	r.Header, r.Host, r.URL = nil, "", nowhere
	res, err := d.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	maps.Copy(to.Header(), res.Header)
	to.WriteHeader(res.StatusCode)
	return copyBody(to, res)
}

// Query implements exchange.Caller.
func (d *direct) Query(ctx context.Context) { query(ctx, d) }
