// Package completions lets the demo provider speak the completions format.
package completions

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// Format is the completions format.
var Format = &wire.Format{
	Family: openai.Family,
	Name:   "completions",
	Endpoints: []wire.Endpoint{
		{Path: "/v1/completions", Methods: []string{http.MethodPost}, Generate: read},
	},
}
