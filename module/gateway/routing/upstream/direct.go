package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// direct calls the transport without reverse_proxy.
type direct struct{ transport directTransport }

// directTransport is what direct needs of the transport.
type directTransport interface {
	http.RoundTripper
	Ask(ctx context.Context, c *exchange.Conduit) (*http.Response, error)
}

func newDirect(ctx caddy.Context, transport json.RawMessage) (exchange.Caller, error) {
	mod, err := ctx.LoadModuleByID("http.reverse_proxy.transport.ai", transport)
	if err != nil {
		return nil, fmt.Errorf("loading transport: %w", err)
	}
	return &direct{mod.(directTransport)}, nil
}

// Call implements exchange.Caller.
func (d *direct) Call(ctx context.Context, c *exchange.Conduit, receiver exchange.Receiver, _ *http.Request) error {
	res, err := d.transport.Ask(ctx, c)
	if err != nil {
		return err
	}
	return relay(receiver, res)
}

// relay writes an answer to the receiver.
func relay(receiver exchange.Receiver, res *http.Response) error {
	defer res.Body.Close()
	receiver.TakeHeader(res.Header)
	receiver.WriteHeader(res.StatusCode)
	return copyBody(receiver, res)
}

// Pass implements exchange.Caller.
func (d *direct) Pass(ctx context.Context, p *exchange.Passage, receiver exchange.Receiver) error {
	res, err := d.transport.RoundTrip(passing(ctx, p))
	if err != nil {
		return err
	}
	return relay(receiver, res)
}

// Dial implements exchange.Dialer.
func (d *direct) Dial(ctx context.Context, a *exchange.Attempt) (*exchange.Socket, *fault.Fault) {
	return d.transport.(exchange.Dialer).Dial(ctx, a)
}

// Query implements exchange.Caller.
func (d *direct) Query(ctx context.Context) {
	if res, err := d.transport.RoundTrip(query(ctx)); err == nil {
		_ = res.Body.Close()
	}
}
