package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

var chunks = openai.Chunks{Object: "text_completion", Empty: `,"text":""`, Last: `,"text":"","logprobs":null`}

// Replay writes a whole JSON answer as a stream; see openai.Chunks.
func Replay(answer []byte, usage bool) ([]byte, *fault.Fault) {
	return chunks.Replay(answer, usage)
}
