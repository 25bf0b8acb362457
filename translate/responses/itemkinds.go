package responses

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// itemKind is the type of an item, as far as the gateway knows it.
type itemKind uint8

const (
	unknownItem itemKind = iota
	messageItem
	callItem
	callOutputItem
	freeCallItem
	freeCallOutputItem
	reasoningItem
	toolsItem
	referenceItem
	itemKindCount
)

func itemKindOf(name []byte) itemKind {
	switch string(name) {
	case "message":
		return messageItem
	case "function_call":
		return callItem
	case "function_call_output":
		return callOutputItem
	case "custom_tool_call":
		return freeCallItem
	case "custom_tool_call_output":
		return freeCallOutputItem
	case "reasoning":
		return reasoningItem
	case "additional_tools", "tool_search_output":
		return toolsItem
	case "item_reference":
		return referenceItem
	default:
		return unknownItem
	}
}

// kindOf returns the kind of a type as it is written.
func kindOf(raw []byte) itemKind { return itemKindOf(unquoted(raw)) }

// told reports whether the core events have words for the items of an answer that are
// of the kind.
func (k itemKind) told() bool {
	switch k {
	case messageItem, reasoningItem, callItem, freeCallItem:
		return true
	default:
		return false
	}
}

// unquoted is a raw string without its quotes, as it is written.
func unquoted(raw []byte) []byte {
	if len(raw) < len(`""`) {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// need is a member that an item must have; the kind Invalid stands for a text or
// an array of parts.
type need struct {
	member member
	kind   jsonscan.Kind
}

// needs are the required members of each item, in the order in which they are
// reported.
var needs = [itemKindCount][]need{
	messageItem:        {{memberRole, jsonscan.String}, {memberContent, jsonscan.Invalid}},
	callItem:           {{memberCallID, jsonscan.String}, {memberName, jsonscan.String}, {memberArguments, jsonscan.String}},
	callOutputItem:     {{memberCallID, jsonscan.String}, {memberOutput, jsonscan.Invalid}},
	freeCallItem:       {{memberCallID, jsonscan.String}, {memberName, jsonscan.String}, {memberInput, jsonscan.String}},
	freeCallOutputItem: {{memberCallID, jsonscan.String}, {memberOutput, jsonscan.Invalid}},
	reasoningItem:      {{memberSummary, jsonscan.Array}},
	toolsItem:          {{memberTools, jsonscan.Array}},
	referenceItem:      {{memberID, jsonscan.String}},
}

// member is a member of an item that the gateway reads.
type member uint8

const (
	memberOther member = iota
	memberType
	memberRole
	memberContent
	memberID
	memberCallID
	memberName
	memberArguments
	memberInput
	memberOutput
	memberSummary
	memberEncryptedContent
	memberTools
	memberCount
)

var memberNames = [memberCount]string{
	memberType: "type", memberRole: "role", memberContent: "content", memberID: "id", memberCallID: "call_id",
	memberName: "name", memberArguments: "arguments", memberInput: "input", memberOutput: "output",
	memberSummary: "summary", memberEncryptedContent: "encrypted_content", memberTools: "tools",
}

func memberOf(name []byte) member {
	switch string(name) {
	case "type":
		return memberType
	case "role":
		return memberRole
	case "content":
		return memberContent
	case "id":
		return memberID
	case "call_id":
		return memberCallID
	case "name":
		return memberName
	case "arguments":
		return memberArguments
	case "input":
		return memberInput
	case "output":
		return memberOutput
	case "summary":
		return memberSummary
	case "encrypted_content":
		return memberEncryptedContent
	case "tools":
		return memberTools
	default:
		return memberOther
	}
}
