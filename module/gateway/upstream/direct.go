package upstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
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

// nowhere is the URL of a request before the transport sets one. The client's URL must not
// be used, because it can contain a host.
var nowhere = new(url.URL)

// Call implements Caller.
func (d *direct) Call(to Receiver, r *http.Request) error {
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
