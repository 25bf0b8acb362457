package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// stopReasons lists the values of stop_reason in answers of the format.
var stopReasons = map[string]event.FinishReason{
	"end_turn": event.FinishStop, "stop_sequence": event.FinishStop,
	"max_tokens": event.FinishLength, "model_context_window_exceeded": event.FinishLength,
	"tool_use": event.FinishTools, "refusal": event.FinishFiltered,
	"pause_turn": event.FinishPaused, "compaction": event.FinishPaused,
}

// ReadStopReason reads the stop_reason of messages answers.
func ReadStopReason(word string) event.FinishReason { return stopReasons[word] }

// StopReason returns the stop_reason for a reason. calls reports whether the turn has
// tool calls, and takes precedence over the reason, since several servers report an
// ordinary end of a turn with calls. The caller replaces end_turn by stop_sequence if it
// knows the sequence.
func StopReason(r event.FinishReason, calls bool) string {
	switch {
	case r == event.FinishLength:
		return "max_tokens"
	case r == event.FinishFiltered || r == event.FinishRefused:
		return "refusal"
	case calls:
		return "tool_use"
	case r == event.FinishPaused:
		return "pause_turn"
	}
	return "end_turn"
}
