// Package caddyfile reads the directive ai_gateway and the global option of the same
// name. A function reads each block; its comment contains the syntax.
//
// It promises that every detectable mistake, such as an unknown word, is an error with
// file and line; and that neither the adapted configuration nor an error contains a
// secret: secrets must be references, and errors do not repeat an argument that may be a
// literal secret.
//
// It refuses to resolve references and placeholders. The gateway does that when it
// provisions the configuration.
package caddyfile

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

const directive = "ai_gateway"

func init() {
	httpcaddyfile.RegisterDirective(directive, parseDirective)
	// The directive runs before respond. Otherwise, a "respond 404" without a matcher
	// at the end of a site would answer every request of the gateway.
	httpcaddyfile.RegisterDirectiveOrder(directive, httpcaddyfile.Before, "respond")
	httpcaddyfile.RegisterGlobalOption(directive, parseGlobalOption)
}

// parseDirective returns the route of the handler of a site.
func parseDirective(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	lines := readLines(*h.Dispenser) // with the matcher
	if !h.Next() {
		return nil, h.ArgErr()
	}
	matchers, err := h.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	if err := checkMatcher(h, matchers); err != nil {
		return nil, err
	}
	handler, err := parseHandler(h, lines)
	if err != nil {
		return nil, err
	}
	return h.NewRoute(matchers, handler), nil
}

// parseHandler returns the handler of a site, which inherits the global option.
// Syntax:
//
//	ai_gateway [<matcher>] {
//		<as the global option>
//	}
func parseHandler(h httpcaddyfile.Helper, lines []written.Line) (caddyhttp.MiddlewareHandler, error) {
	var global gateway.App
	if app, ok := h.Option(directive).(httpcaddyfile.App); ok {
		if err := json.Unmarshal(app.Value, &global); err != nil {
			return nil, h.WrapErr(err)
		}
	}
	config, err := parseConfig(h.Dispenser, global.Config, lines)
	if err != nil {
		return nil, err
	}
	return &gateway.Handler{Config: config}, nil
}

// parseGlobalOption returns the app, whose configuration all sites inherit. Syntax:
// see parseConfig.
func parseGlobalOption(d *cf.Dispenser, existing any) (any, error) {
	config, err := parseConfig(d, gateway.Config{}, readLines(*d))
	if err != nil {
		return nil, err
	}
	if existing != nil {
		return nil, d.Errf("the global option %s is given twice", directive)
	}
	return httpcaddyfile.App{
		Name:  directive,
		Value: caddyconfig.JSON(gateway.App{Config: config}, nil),
	}, nil
}
