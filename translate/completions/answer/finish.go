package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// FinishReason returns the finish_reason of completions answers for a reason, ""
// if the provider waits for the results of calls, for which the format has no word.
// Without calls, a reason that announces some means the end of the turn. The words of
// a refusal are plain text here, so only the reason tells them from an answer.
func FinishReason(r event.FinishReason, calls bool) string {
	switch {
	case r == event.FinishTools && calls:
		return ""
	case r == event.FinishRefused:
		return "content_filter"
	}
	return choices.FinishReason(r, false)
}
