// Package upstream calls providers: through Caddy's reverse_proxy where the
// configuration asks for anything of it, else through the transport alone.
//
// It promises that a call carries nothing of the client but the conduit in its
// context, and that no request chooses an address. It refuses a configuration whose
// addresses depend on the request.
package upstream

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Caller is the way to a provider. Call carries the conduit of an attempt, or the
// query for models, in the request's context, and writes the answer to a receiver.
// What came of the call is in the conduit or the query; the error explains a call
// that never got to the transport.
type Caller interface {
	Call(to Receiver, r *http.Request) error
}

// Receiver takes the answer of a provider from a Caller. For attempts it is the
// sink.
type Receiver interface {
	http.ResponseWriter
	FlushError() error
}

// Load loads the way to a provider. proxy is the configuration of a reverse_proxy,
// nil for none: then the transport is called directly, because the bookkeeping of
// reverse_proxy is half of what a call costs. So it is if the provider answers
// in-process.
func Load(ctx caddy.Context, config aigateway.Upstream, proxy json.RawMessage, inProcess bool) (Caller, error) {
	options, err := fieldsOf(proxy)
	if err != nil {
		return nil, fmt.Errorf("reading reverse_proxy: %w", err)
	}
	if err := checkAddresses(options); err != nil {
		return nil, err
	}
	ownAddress := options["upstreams"] == nil && options["dynamic_upstreams"] == nil
	if ownAddress && !inProcess {
		if config.TransportRaw, err = completeTransport(config); err != nil {
			return nil, err
		}
	}
	transport, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("writing transport: %w", err)
	}
	if inProcess || options == nil {
		return newDirect(ctx, transport)
	}
	if ownAddress {
		options["upstreams"] = dialAddress(config.BaseURL)
	}
	return newProxied(ctx, options, transport)
}

func fieldsOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	return fields, err
}
