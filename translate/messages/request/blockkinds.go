package request

import (
	"strings"

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

// kinds are the types of each kind on the wire, what a request must have, in the
// order in which faults are reported, and the other members; what else stands in
// one is lost.
var kinds = [blockKindCount]struct {
	types string
	needs []need
	may   []member
}{
	textBlock:             {"text", []need{{memberText, jsonscan.String}}, []member{memberCitations, memberCacheControl}},
	imageBlock:            {"image", []need{{memberSource, jsonscan.Object}}, []member{memberCacheControl}},
	documentBlock:         {"document", []need{{memberSource, jsonscan.Object}}, []member{memberTitle, memberContext, memberCitations, memberCacheControl}},
	searchResultBlock:     {"search_result", []need{{memberSource, jsonscan.String}, {memberTitle, jsonscan.String}, {memberContent, jsonscan.Array}}, []member{memberCitations, memberCacheControl}},
	thinkingBlock:         {"thinking", []need{{memberThinking, jsonscan.String}, {memberSignature, jsonscan.String}}, nil},
	redactedThinkingBlock: {"redacted_thinking", []need{{memberData, jsonscan.String}}, nil},
	toolUseBlock:          {"tool_use", calls, []member{memberCacheControl}},
	toolResultBlock:       {"tool_result", []need{{memberToolUseID, jsonscan.String}}, []member{memberContent, memberIsError, memberCacheControl}},
	serverToolUseBlock:    {"server_tool_use", calls, nil},
	serverToolResultBlock: {serverResults, []need{{memberToolUseID, jsonscan.String}, {memberContent, jsonscan.Invalid}}, nil},
	containerUploadBlock:  {"container_upload", []need{{memberFileID, jsonscan.String}}, nil},
	toolReferenceBlock:    {"tool_reference", nil, []member{memberToolName, memberCacheControl}},

	base64Source:  {"base64", []need{{memberMediaType, jsonscan.String}, {memberData, jsonscan.String}}, nil},
	textSource:    {"text", []need{{memberMediaType, jsonscan.String}, {memberData, jsonscan.String}}, nil},
	urlSource:     {"url", []need{{memberURL, jsonscan.String}}, nil},
	fileSource:    {"file", []need{{memberFileID, jsonscan.String}}, nil},
	contentSource: {"content", nil, []member{memberContent}},
}

// calls are what calls of tools need.
var calls = []need{{memberID, jsonscan.String}, {memberName, jsonscan.String}, {memberInput, jsonscan.Object}}

const serverResults = "web_search_tool_result web_fetch_tool_result code_execution_tool_result " +
	"bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result"

// members are the members of each kind.
var members = func() (sets [blockKindCount]core.Set) {
	for kind, row := range kinds {
		own := append([]member{memberType}, row.may...)
		for _, n := range row.needs {
			own = append(own, n.member)
		}
		for _, m := range own {
			sets[kind] |= core.SetOf(int(m))
		}
	}
	return sets
}()

// kindIndex finds kinds by their types.
type kindIndex struct {
	types *core.Names
	kinds []blockKind
}

var (
	blockTypes  = indexOf(textBlock, toolReferenceBlock)
	sourceTypes = indexOf(base64Source, contentSource)
)

// indexOf returns the index of a range of kinds.
func indexOf(first, last blockKind) (x kindIndex) {
	var types []string
	for kind := first; kind <= last; kind++ {
		for _, name := range strings.Fields(kinds[kind].types) {
			types, x.kinds = append(types, name), append(x.kinds, kind)
		}
	}
	x.types = core.NewNames(types...)
	return x
}

func (x *kindIndex) of(name []byte) blockKind {
	if i := x.types.Index(name); i >= 0 {
		return x.kinds[i]
	}
	return unknownBlock
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

// member is a member of a block or a source that the gateway reads.
type member uint8

const (
	memberType member = iota
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

var memberIndex = core.NewNames(memberNames[:]...)
