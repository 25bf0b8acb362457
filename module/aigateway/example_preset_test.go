package aigateway_test

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() {
	caddy.RegisterModule(Acme{})
}

// Acme describes the service of a vendor. In a Caddyfile:
//
//	provider acme {
//		api_key {env.ACME_API_KEY}
//	}
type Acme struct{}

func (Acme) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.providers.acme",
		New: func() caddy.Module { return new(Acme) },
	}
}

func (Acme) Defaults() aigateway.Defaults {
	return aigateway.Defaults{
		BaseURL:     "https://api.acme.example/v1",
		Formats:     []translate.Format{translate.Chat},
		KeyRequired: true,
		Traits:      map[string]string{"max_tokens_field": "max_completion_tokens"},
	}
}

func ExamplePreset() {
	var preset aigateway.Preset = new(Acme)
	fmt.Println(preset.Defaults().BaseURL)
	// Output: https://api.acme.example/v1
}
