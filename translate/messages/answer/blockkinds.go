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

// blockKindOf returns the kind of a type, unknownBlock for a type that core events cannot
// express.
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
