package upstream

import (
	"context"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// query returns a request for the query for models in ctx. It contains nothing of a client. It
// is prepared as Caddy's server prepares the others, for reverse_proxy and the transport.
func query(ctx context.Context) *http.Request {
	r := &http.Request{
		Method: http.MethodGet, URL: new(url.URL), Header: make(http.Header),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:0",
	}
	return caddyhttp.PrepareRequest(r.WithContext(ctx), caddy.NewReplacer(), nil, new(caddyhttp.Server))
}

// passing returns a request for a passage, with its method: reverse_proxy repeats only GET after an
// error of a request that may have been sent.
func passing(ctx context.Context, p *exchange.Passage) *http.Request {
	r := query(exchange.WithPassage(ctx, p))
	r.Method = p.Method
	return r
}

// queryAnswer is the answer of reverse_proxy to a query. It is discarded, because the transport
// stores the result in the query.
type queryAnswer http.Header

// Header returns a header map that is not read.
func (a queryAnswer) Header() http.Header { return http.Header(a) }

// WriteHeader does nothing.
func (queryAnswer) WriteHeader(int) {}

// Write discards p.
func (queryAnswer) Write(p []byte) (int, error) { return len(p), nil }
