// Package providers holds the presets: what the kind of a provider implies, so
// that its configuration need not say it.
//
// It promises that a preset is data, never behaviour: address, formats and the
// header of the credential, each of which the configuration overrules. The one
// exception is the demo provider, which answers in-process. It refuses to know
// models: their names change more often than releases are made.
package providers

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// presets is everything that is known about the hosted and the self-hosted
// services.
var presets = []Preset{
	{"anthropic", exchange.Defaults{
		BaseURL: "https://api.anthropic.com",
		Formats: []translate.Format{translate.Messages},
		Header:  "X-Api-Key", KeyRequired: true,
	}},
	{"openai", exchange.Defaults{
		BaseURL:     "https://api.openai.com/v1",
		Formats:     []translate.Format{translate.Chat, translate.Completions},
		KeyRequired: true,
	}},
	{"openai_compatible", exchange.Defaults{
		Formats: []translate.Format{translate.Chat, translate.Completions},
	}},
	{"ollama", exchange.Defaults{
		BaseURL: "http://localhost:11434/v1",
		Formats: []translate.Format{translate.Chat, translate.Completions, translate.Messages},
	}},
	{"vllm", exchange.Defaults{
		BaseURL: "http://localhost:8000/v1",
		Formats: []translate.Format{translate.Chat, translate.Completions, translate.Messages},
	}},
}

func init() {
	for _, p := range presets {
		caddy.RegisterModule(p)
	}
	caddy.RegisterModule(Demo{})
}

// Preset is a kind of provider that is all data. It has no options.
type Preset struct {
	name     string
	defaults exchange.Defaults
}

// CaddyModule returns the Caddy module information.
func (p Preset) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  caddy.ModuleID("ai_gateway.providers." + p.name),
		New: func() caddy.Module { return &Preset{p.name, p.defaults} },
	}
}

// Defaults returns what the preset implies.
func (p Preset) Defaults() exchange.Defaults { return p.defaults }

// Interface guard
var _ exchange.Preset = Preset{}
