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

// stopWords lists the values of stop_reason that are written.
var stopWords = event.ReasonWords{
	event.FinishStop: "end_turn", event.FinishLength: "max_tokens", event.FinishTools: "tool_use",
	event.FinishFiltered: "refusal", event.FinishPaused: "pause_turn",
}

// StopReason returns the stop_reason for a reason of a turn with or without calls. The caller
// replaces end_turn by stop_sequence if it knows the sequence.
func StopReason(r event.FinishReason, calls bool) string { return stopWords.Of(r, calls) }
