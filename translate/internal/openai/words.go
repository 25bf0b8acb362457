package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"

// FinishReason returns the finish_reason of chat answers for a reason. calls reports
// whether the choice has tool calls, and takes precedence over the reason: clients run
// calls only if the finish_reason announces them, and wait for calls that it announces
// wrongly. For a paused turn, which is incomplete, the format only has length. A
// refusal in words ends the turn like any text: the words have a member of their own.
func FinishReason(r event.FinishReason, calls bool) string {
	switch r {
	case event.FinishLength, event.FinishPaused:
		return "length"
	case event.FinishFiltered:
		return "content_filter"
	}
	if calls {
		return "tool_calls"
	}
	return "stop"
}

// Tiers are the values of service_tier in answers of the chat format.
var Tiers = event.TierWords{
	event.TierStandard: "default", event.TierPriority: "priority", event.TierFlex: "flex", event.TierScale: "scale",
}
