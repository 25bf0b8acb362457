package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// ReadStopReason reads the stop_reason of messages answers.
func ReadStopReason(word string) event.FinishReason {
	switch word {
	case "end_turn", "stop_sequence":
		return event.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return event.FinishLength
	case "tool_use":
		return event.FinishTools
	case "refusal":
		return event.FinishFiltered
	case "pause_turn", "compaction":
		return event.FinishPaused
	default:
		return event.FinishUnknown
	}
}

// StopReason returns the stop_reason for a reason. calls reports whether the turn has
// tool calls, and takes precedence over the reason, since several servers report an
// ordinary end of a turn with calls. The caller replaces end_turn by stop_sequence if it
// knows the sequence.
func StopReason(r event.FinishReason, calls bool) string {
	switch r {
	case event.FinishLength:
		return "max_tokens"
	case event.FinishFiltered, event.FinishRefused:
		return "refusal"
	}
	switch {
	case calls:
		return "tool_use"
	case r == event.FinishPaused:
		return "pause_turn"
	default:
		return "end_turn"
	}
}
