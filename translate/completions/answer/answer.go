package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"

// chunks describes the chunks of a native answer.
var chunks = openai.Chunks{Object: "text_completion", Empty: `,"text":""`, Last: `,"text":"","logprobs":null`}
