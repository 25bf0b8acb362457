// Package upstream calls providers: through Caddy's reverse_proxy if the configuration
// has options of it, else through the transport alone.
//
// A call contains nothing of the client except for the conduit in its context. No request
// can choose an address: the package refuses a configuration whose addresses depend on
// the request.
package upstream

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Load returns the caller of a provider. proxy is the configuration of a reverse_proxy, nil
// for none. Without one, and for a provider that answers in-process, the caller uses the
// transport directly, because the bookkeeping of reverse_proxy is half of the cost of a
// call.
func Load(ctx caddy.Context, config aigateway.Upstream, proxy json.RawMessage, inProcess bool) (exchange.Caller, error) {
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
		caller, err := newDirect(ctx, transport)
		if inProcess { // there is no server for a WebSocket
			caller = struct{ exchange.Caller }{caller}
		}
		return caller, err
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
