package transport

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/connection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
)

// carrier sends the requests to a provider.
type carrier struct {
	inner   http.RoundTripper // the transport of the configuration, or a preset that answers without a server
	http1   *http1.Transport  // in place of inner for the requests that it takes; nil if it takes none
	started <-chan struct{}   // closed when the configuration starts; nil if that is unknown
}

// send sends a request. Its error is logged, so it must not quote the provider's answer.
func (c *carrier) send(req *http.Request) (*http.Response, error) {
	var way http.RoundTripper
	if c.http1 != nil && c.http1.Takes(req) {
		way = c.http1
	} else {
		way = c.inner
		connection.FilterLog()
	}
	res, err := outbound.Final(way.RoundTrip(req))
	if err != nil {
		return nil, connection.Unquoted(err)
	}
	return res, nil
}

// waitForStart waits until the configuration starts. Caddy begins health checks while it provisions a
// configuration, even if it only validates it.
func (c *carrier) waitForStart(ctx context.Context) error {
	if c.started == nil {
		return nil
	}
	select {
	case <-c.started:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeIdle closes the idle connections, so that the next request is sent on a new one.
func (c *carrier) closeIdle() {
	if inner, ok := c.inner.(*reverseproxy.HTTPTransport); ok {
		inner.Transport.CloseIdleConnections()
	}
	if c.http1 != nil {
		c.http1.CloseIdleConnections()
	}
}

// tokenCarrier sends the requests for tokens.
type tokenCarrier struct{ carrier *carrier }

// RoundTrip sends a request by the inner transport, whose options are those of the provider.
func (t tokenCarrier) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := context.WithValue(r.Context(), caddy.ReplacerCtxKey, caddy.NewReplacer())
	return t.carrier.send(r.WithContext(ctx))
}
