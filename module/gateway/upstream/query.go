package upstream

import (
	"context"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// query calls a provider with the query for models in ctx. The request contains nothing of
// a client. It is prepared as Caddy's server prepares the others, for reverse_proxy and the
// transport.
func query(ctx context.Context, c exchange.Caller) {
	r := &http.Request{
		Method: http.MethodGet, URL: new(url.URL), Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:0",
	}
	r = caddyhttp.PrepareRequest(r.WithContext(ctx), caddy.NewReplacer(), nil, new(caddyhttp.Server))
	_ = c.Call(queryAnswer{}, r) // the result is in the query
}

// queryAnswer is the receiver of a query. It discards the answer, because the transport
// stores the result in the query.
type queryAnswer map[string][]string

// Header returns a header map that is not read.
func (a queryAnswer) Header() http.Header { return http.Header(a) }

// WriteHeader does nothing.
func (queryAnswer) WriteHeader(int) {}

// Write discards p.
func (queryAnswer) Write(p []byte) (int, error) { return len(p), nil }

// FlushError does nothing.
func (queryAnswer) FlushError() error { return nil }

var _ exchange.Receiver = queryAnswer{}
