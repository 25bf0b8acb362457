package answer

// itemKind is the type of an item of an answer.
type itemKind uint8

const (
	unknownItem itemKind = iota
	messageItem
	callItem
	freeCallItem
	reasoningItem
)

// kindOf returns the kind of a raw type, unknownItem for a type that core events cannot
// express.
func kindOf(raw []byte) itemKind {
	switch string(unquoted(raw)) {
	case "message":
		return messageItem
	case "function_call":
		return callItem
	case "custom_tool_call":
		return freeCallItem
	case "reasoning":
		return reasoningItem
	default:
		return unknownItem
	}
}

// unquoted returns a raw string without its quotes.
func unquoted(raw []byte) []byte {
	if len(raw) < len(`""`) {
		return nil
	}
	return raw[1 : len(raw)-1]
}
