package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// The reasons why an answer is incomplete.
const (
	cutOff   = "max_output_tokens"
	filtered = "content_filter"
)

// endingOf returns the status of an answer that ended for a reason, and the reason why it
// is incomplete, "" if it is complete. A refusal in words completes the answer, since the
// words are part of it.
func endingOf(r event.FinishReason) (status, reason string) {
	switch r {
	case event.FinishLength, event.FinishPaused:
		return incomplete, cutOff
	case event.FinishFiltered:
		return incomplete, filtered
	default:
		return completed, ""
	}
}
