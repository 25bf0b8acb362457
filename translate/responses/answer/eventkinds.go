package answer

import "bytes"

// eventKind is what an event of a stream is about.
type eventKind uint8

const (
	otherEvent eventKind = iota
	quietEvent           // no part of the answer
	headEvent            // the response has begun, or continues
	itemAdded
	itemDone
	partAdded
	partDone
	textDelta
	textDone
	refusalDelta
	refusalDone
	argumentsDelta
	argumentsDone
	freeInputDelta
	freeInputDone
	summaryPartAdded
	summaryPartDone
	summaryDelta
	summaryDone
	thoughtDelta
	thoughtDone
	annotationAdded
	completedEvent
	incompleteEvent
	failedEvent // the response failed
	errorEvent  // the stream failed
)

// eventKindOf returns what an event of that name is about.
func eventKindOf(name []byte) eventKind {
	switch string(name) {
	case "response.output_text.delta":
		return textDelta
	case "response.function_call_arguments.delta":
		return argumentsDelta
	case "response.reasoning_summary_text.delta":
		return summaryDelta
	case "response.reasoning_text.delta":
		return thoughtDelta
	case "response.custom_tool_call_input.delta":
		return freeInputDelta
	case "response.refusal.delta":
		return refusalDelta
	case "response.output_item.added":
		return itemAdded
	case "response.output_item.done":
		return itemDone
	case "response.content_part.added":
		return partAdded
	case "response.content_part.done":
		return partDone
	}
	return rareEventKindOf(name)
}

// rareEventKindOf is eventKindOf for events that are rare in an answer.
func rareEventKindOf(name []byte) eventKind {
	switch string(name) {
	case "response.created", "response.queued", "response.in_progress":
		return headEvent
	case "response.output_text.done":
		return textDone
	case "response.refusal.done":
		return refusalDone
	case "response.function_call_arguments.done":
		return argumentsDone
	case "response.custom_tool_call_input.done":
		return freeInputDone
	case "response.reasoning_summary_part.added":
		return summaryPartAdded
	case "response.reasoning_summary_part.done":
		return summaryPartDone
	case "response.reasoning_summary_text.done":
		return summaryDone
	case "response.reasoning_text.done":
		return thoughtDone
	case "response.output_text.annotation.added":
		return annotationAdded
	case "response.completed":
		return completedEvent
	case "response.incomplete":
		return incompleteEvent
	case "response.failed":
		return failedEvent
	case "error":
		return errorEvent
	case "keepalive", "response.metadata", "response.reasoning_part.added", "response.reasoning_part.done":
		return quietEvent
	}
	if bytes.HasPrefix(name, []byte("codex.")) || bytes.HasPrefix(name, []byte("responsesapi.")) {
		return quietEvent
	}
	return otherEvent
}

// known reports whether the gateway knows what an event means.
func (k eventKind) known() bool { return k != otherEvent && k != quietEvent }

// done reports whether an event contains a whole text.
func (k eventKind) done() bool {
	switch k {
	case textDone, refusalDone, argumentsDone, freeInputDone, summaryDone, thoughtDone:
		return true
	default:
		return false
	}
}

// delta reports whether an event adds to a text.
func (k eventKind) delta() bool {
	switch k {
	case textDelta, refusalDelta, argumentsDelta, freeInputDelta, summaryDelta, thoughtDelta:
		return true
	default:
		return false
	}
}
