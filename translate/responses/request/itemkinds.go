package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

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
	foundItem
	searchItem
	updateItem
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
	case "additional_tools":
		return toolsItem
	case "tool_search_output":
		return foundItem
	case "tool_search_call":
		return searchItem
	case "configuration_update":
		return updateItem
	case "item_reference":
		return referenceItem
	default:
		return unknownItem
	}
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
	foundItem:          {{memberTools, jsonscan.Array}},
	referenceItem:      {{memberID, jsonscan.String}},
}

// member is a member of an item that the gateway reads.
type member int8

const (
	memberType member = iota
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
	memberNamespace
	memberExecution
	memberReasoning
	memberText
	memberCount
)

var itemMembers = core.NewNames(
	"type", "role", "content", "id", "call_id", "name", "arguments", "input", "output", "summary", "encrypted_content",
	"tools", "namespace", "execution", "reasoning", "text",
)

func (m member) String() string { return itemMembers.List()[m] }
