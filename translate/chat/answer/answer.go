package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"

// chunks describes the chunks of a native answer.
var chunks = openai.Chunks{
	Object: "chat.completion.chunk", Deltas: true,
	Empty: `,"delta":{"role":"assistant"}`, Last: `,"delta":{}`,
}
