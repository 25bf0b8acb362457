package translate

// The tables of finish reasons (wire format C.4). A word that nobody knows is
// FinishUnknown and never an error, since the sets are open.

// ReadChoicesFinish reads the finish_reason of chat and completions answers.
func ReadChoicesFinish(word string) FinishReason {
	switch word {
	case "stop":
		return FinishStop
	case "length":
		return FinishLength
	case "tool_calls", "function_call":
		return FinishTools
	case "content_filter":
		return FinishFiltered
	default:
		return FinishUnknown
	}
}

// ReadMessagesFinish reads the stop_reason of messages answers.
func ReadMessagesFinish(word string) FinishReason {
	switch word {
	case "end_turn", "stop_sequence":
		return FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return FinishLength
	case "tool_use":
		return FinishTools
	case "refusal":
		return FinishFiltered
	case "pause_turn", "compaction":
		return FinishPaused
	default:
		return FinishUnknown
	}
}

// Messages is the reason as a stop_reason. Several servers say that a turn
// simply ended when it made calls, so calls, whether it made any, counts more
// than their word. A stop that is told apart by its sequence is stop_sequence,
// which the caller knows.
func (r FinishReason) Messages(calls bool) string {
	switch r {
	case FinishLength:
		return "max_tokens"
	case FinishFiltered, FinishRefused:
		return "refusal"
	}
	switch {
	case calls:
		return "tool_use"
	case r == FinishPaused:
		return "pause_turn"
	default:
		return "end_turn"
	}
}

// Chat is the reason as a finish_reason of chat answers. As in Messages, calls
// count more than the provider's word: clients run them when the reason says that
// there are some, and wait for some that are not there when it says so wrongly. A
// turn that was paused is incomplete, which the format can only call length. A
// model that refuses in words simply ends its turn: they have a member of their own.
func (r FinishReason) Chat(calls bool) string {
	switch r {
	case FinishLength, FinishPaused:
		return "length"
	case FinishFiltered:
		return "content_filter"
	}
	if calls {
		return "tool_calls"
	}
	return "stop"
}

// Completions is the reason as a finish_reason of completions answers; calls says
// whether there are any. It is "" where the provider waits for the results of
// calls, which no request of the format can ask for. As in Messages and Chat, a
// provider that speaks of calls and made none has simply ended its turn. The words
// of a refusal are plain text here, which the reason has to tell apart.
func (r FinishReason) Completions(calls bool) string {
	switch {
	case r == FinishTools && calls:
		return ""
	case r == FinishRefused:
		return "content_filter"
	}
	return r.Chat(false)
}
