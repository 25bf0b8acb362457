package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
)

// Inspect reads a whole JSON answer. It returns a fault for an answer that contains an
// error object, or no choice.
func Inspect(body []byte, _ translate.Operation) (signal.Answer, *fault.Fault) {
	return openai.InspectAnswer(body)
}

var chunks = openai.Chunks{
	Object: "chat.completion.chunk", Deltas: true,
	Empty: `,"delta":{"role":"assistant"}`, Last: `,"delta":{}`,
}

// Replay writes a whole JSON answer as a stream; see openai.Chunks.
func Replay(answer []byte, usage bool) ([]byte, *fault.Fault) {
	return chunks.Replay(answer, usage)
}
