package demo

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/gemini"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/messages"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/responses"
)

// formats are the formats that the engine speaks.
var formats = []*wire.Format{
	messages.Format,
	chat.Format,
	completions.Format,
	responses.Format,
	gemini.Format,
}

// defaultFamily answers requests without the header of a family.
var defaultFamily = openai.Family
