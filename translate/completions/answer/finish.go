package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// FinishReason returns the finish_reason of completions answers for a reason, ""
// if the provider waits for the results of calls, which the format cannot express.
// A reason that announces calls means the end of the turn if there are none. The text
// of a refusal is plain text here, so only the reason distinguishes it from an answer.
func FinishReason(r event.FinishReason, calls bool) string {
	switch {
	case r == event.FinishTools && calls:
		return ""
	case r == event.FinishRefused:
		return "content_filter"
	}
	return openai.FinishReason(r, false)
}
