// Package caddyfile is the grammar of the gateway: the directive ai_gateway,
// the global option of the same name, and one function for each of their
// blocks, with its syntax in its comment.
//
// It promises that every mistake it can see is an error with file and line,
// that a word it does not know is a mistake, and that no secret gets into the
// adapted configuration: where one is expected only a reference is accepted,
// and what was written there instead is not repeated. It refuses to resolve
// anything: that is done when the configuration is provisioned.
package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

const directive = "ai_gateway"

func init() {
	httpcaddyfile.RegisterHandlerDirective(directive, parseHandler)
	// Before respond: with a later place, a bare "respond 404" at the end of a
	// site would answer every request of the gateway.
	httpcaddyfile.RegisterDirectiveOrder(directive, httpcaddyfile.Before, "respond")
	httpcaddyfile.RegisterGlobalOption(directive, parseGlobalOption)
}

// parseHandler sets up the handler of a site, which inherits what the global
// option has and adds to it. Syntax:
//
//	ai_gateway [<matcher>] {
//		<as the global option>
//	}
func parseHandler(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	config, err := parseConfig(h.Dispenser)
	if err != nil {
		return nil, err
	}
	return &gateway.Handler{Config: config}, nil
}

// parseGlobalOption sets up what all sites inherit. Syntax: see parseConfig.
func parseGlobalOption(d *cf.Dispenser, existing any) (any, error) {
	config, err := parseConfig(d)
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
