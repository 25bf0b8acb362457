// Package providers holds the presets: what the kind of a provider implies, so
// that its configuration need not say it.
//
// It promises that a preset is data, never behaviour: address, formats, the
// header of the credential and traits, each of which the configuration
// overrules. The one exception is the demo provider, which answers in-process.
// It knows single models only by what makes their providers refuse requests: the
// longest answers that they give. Other names change more often than releases are
// made. A trait is in a preset only where the service documents it for all of
// its models, or where it does no harm to any; what else differs from model to
// model is left to the configuration.
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

// Preset is a kind of provider that is all data. It has no options.
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

// Defaults returns what the preset implies.
func (p Preset) Defaults() aigateway.Defaults { return p.defaults }

// Interface guard
var _ aigateway.Preset = Preset{}
