package messages

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// blockKind is the type of a content block, or of a source, as far as the
// gateway knows it.
type blockKind uint8

const (
	unknownBlock blockKind = iota
	textBlock
	imageBlock
	documentBlock
	searchResultBlock
	thinkingBlock
	redactedThinkingBlock
	toolUseBlock
	toolResultBlock
	serverToolUseBlock
	serverToolResultBlock
	containerUploadBlock
	toolReferenceBlock
	base64Source
	textSource
	urlSource
	fileSource
	contentSource
	blockKindCount
)

// readsInside reports whether what stands in the block's source or content is
// checked.
func (k blockKind) readsInside() bool {
	switch k {
	case imageBlock, documentBlock, searchResultBlock, toolResultBlock:
		return true
	default:
		return false
	}
}

func blockKindOf(name []byte) blockKind {
	switch string(name) {
	case "text":
		return textBlock
	case "image":
		return imageBlock
	case "document":
		return documentBlock
	case "search_result":
		return searchResultBlock
	case "thinking":
		return thinkingBlock
	case "redacted_thinking":
		return redactedThinkingBlock
	case "tool_use":
		return toolUseBlock
	case "tool_result":
		return toolResultBlock
	case "server_tool_use":
		return serverToolUseBlock
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result":
		return serverToolResultBlock
	case "container_upload":
		return containerUploadBlock
	case "tool_reference":
		return toolReferenceBlock
	default:
		return unknownBlock
	}
}

func sourceKindOf(name []byte) blockKind {
	switch string(name) {
	case "base64":
		return base64Source
	case "text":
		return textSource
	case "url":
		return urlSource
	case "file":
		return fileSource
	case "content":
		return contentSource
	default:
		return unknownBlock
	}
}

// need is a member of a block and its kind; the kind Invalid stands for any.
type need struct {
	member member
	kind   jsonscan.Kind
}

// optional reports whether blocks may lack the member. Some providers leave out
// what is empty: the signature of thinking that they do not sign, the input of
// a call without arguments. Clients send such blocks back as they came.
func (n need) optional() bool { return n.member == memberSignature || n.member == memberInput }

// needs are the members of each block and source that are checked, in the order
// in which they are reported.
var needs = [blockKindCount][]need{
	textBlock:  {{memberText, jsonscan.String}},
	imageBlock: {{memberSource, jsonscan.Object}},
	documentBlock: {
		{memberSource, jsonscan.Object},
	},
	searchResultBlock: {
		{memberSource, jsonscan.String}, {memberTitle, jsonscan.String}, {memberContent, jsonscan.Array},
	},
	thinkingBlock:         {{memberThinking, jsonscan.String}, {memberSignature, jsonscan.String}},
	redactedThinkingBlock: {{memberData, jsonscan.String}},
	toolUseBlock: {
		{memberID, jsonscan.String}, {memberName, jsonscan.String}, {memberInput, jsonscan.Object},
	},
	toolResultBlock: {{memberToolUseID, jsonscan.String}},
	serverToolUseBlock: {
		{memberID, jsonscan.String}, {memberName, jsonscan.String}, {memberInput, jsonscan.Object},
	},
	serverToolResultBlock: {{memberToolUseID, jsonscan.String}, {memberContent, jsonscan.Invalid}},
	containerUploadBlock:  {{memberFileID, jsonscan.String}},
	base64Source:          {{memberMediaType, jsonscan.String}, {memberData, jsonscan.String}},
	textSource:            {{memberMediaType, jsonscan.String}, {memberData, jsonscan.String}},
	urlSource:             {{memberURL, jsonscan.String}},
	fileSource:            {{memberFileID, jsonscan.String}},
}

// member is a member of a block or a source that the gateway reads.
type member uint8

const (
	memberOther member = iota
	memberType
	memberText
	memberSource
	memberThinking
	memberSignature
	memberData
	memberID
	memberName
	memberInput
	memberToolUseID
	memberContent
	memberTitle
	memberFileID
	memberMediaType
	memberURL
	memberCacheControl
	memberCitations
	memberContext
	memberToolName
	memberIsError
	memberCount
)

var memberNames = [memberCount]string{
	memberType: "type", memberText: "text", memberSource: "source", memberThinking: "thinking",
	memberSignature: "signature", memberData: "data", memberID: "id", memberName: "name",
	memberInput: "input", memberToolUseID: "tool_use_id", memberContent: "content",
	memberTitle: "title", memberFileID: "file_id", memberMediaType: "media_type", memberURL: "url",
	memberCacheControl: "cache_control", memberCitations: "citations",
	memberContext: "context", memberToolName: "tool_name", memberIsError: "is_error",
}

// options reports whether the member holds an object of options.
func (m member) options() bool { return m == memberCacheControl || m == memberCitations }

var memberIndex = core.NewNames(memberNames[memberType:]...)

func memberOf(name []byte) member { return member(memberIndex.Index(name)) + memberType }
