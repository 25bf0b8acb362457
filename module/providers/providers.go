// Package providers contains the presets. A preset has the defaults for a kind of provider,
// so that the configuration can be short.
//
// A preset is data: address, formats, the header of the credential and traits, all of which
// the configuration can override. Only the demo provider has behaviour: it answers
// in-process. A preset has a trait only if the service documents it for all of its models,
// or if it harms none of them. Differences between models are in the table of the package
// models, which a file of the operator can extend.
package providers

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	for _, p := range presets {
		caddy.RegisterModule(p)
	}
	caddy.RegisterModule(Demo{})
}

// Preset is a preset that consists of data only. It has no options.
type Preset struct {
	name     string
	defaults aigateway.Defaults
}

// CaddyModule returns the Caddy module information.
func (p Preset) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID("ai_gateway.providers." + p.name),
		New: func() caddy.Module { return &Preset{p.name, p.defaults} },
	}
}

// Defaults implements aigateway.Preset.
func (p Preset) Defaults() aigateway.Defaults { return p.defaults }

// Interface guard
var _ aigateway.Preset = Preset{}
