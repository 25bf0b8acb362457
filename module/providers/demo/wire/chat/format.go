// Package chat lets the demo provider speak the chat format.
package chat

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// Format is the chat format.
var Format = &wire.Format{
	Family: openai.Family,
	Name:   "chat",
	Endpoints: []wire.Endpoint{
		{Path: "/v1/chat/completions", Methods: []string{http.MethodPost}, Generate: read},
		embeddings,
	},
}
