package answer

// blockKind is the type of a content block of an answer.
type blockKind uint8

const (
	unknownBlock blockKind = iota
	textBlock
	thinkingBlock
	redactedThinkingBlock
	toolUseBlock
)

// blockKindOf returns the kind of a type, unknownBlock for one that core events
// have no words for.
func blockKindOf(name []byte) blockKind {
	switch string(name) {
	case "text":
		return textBlock
	case "thinking":
		return thinkingBlock
	case "redacted_thinking":
		return redactedThinkingBlock
	case "tool_use":
		return toolUseBlock
	default:
		return unknownBlock
	}
}
