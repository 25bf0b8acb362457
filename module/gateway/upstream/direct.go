package upstream

import (
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

func newDirect(ctx caddy.Context, transport json.RawMessage) (Caller, error) {
	mod, err := ctx.LoadModuleByID("http.reverse_proxy.transport.ai", transport)
	if err != nil {
		return nil, fmt.Errorf("loading transport: %w", err)
	}
	return &direct{mod.(http.RoundTripper)}, nil
}

// nowhere is the URL of a request that has none yet. The client's own must not
// get any further: one in absolute form names a host.
var nowhere = new(url.URL)

// Call copies the answer into the receiver, flushing after each read of a stream.
func (d *direct) Call(to Receiver, r *http.Request) error {
	r = r.WithContext(exchange.WithOwnVars(r.Context()))
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
