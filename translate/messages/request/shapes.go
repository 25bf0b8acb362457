package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// blockShapes are the content blocks. Some providers omit what is empty: the signature of
// thinking that they do not sign, and the input of a call without arguments. Clients send
// such blocks back unchanged.
var blockShapes = shape.New("type",
	shape.Of("text", "citations cache_control", shape.A(jsonscan.String, "text")),
	shape.Of("image", "cache_control", shape.A(jsonscan.Object, "source")),
	shape.Of("document", "title context citations cache_control", shape.A(jsonscan.Object, "source")),
	shape.Of("search_result", "citations cache_control",
		shape.A(jsonscan.String, "source"), shape.A(jsonscan.String, "title"), shape.A(jsonscan.Array, "content")),
	shape.Of("thinking", "", shape.A(jsonscan.String, "thinking"), shape.A(jsonscan.String, "signature").OrNone()),
	shape.Of("redacted_thinking", "", shape.A(jsonscan.String, "data")),
	shape.Of("tool_use", "cache_control", calls...),
	shape.Of("tool_result", "is_error cache_control", shape.A(jsonscan.String, "tool_use_id"), shape.Texts("content", wantContent).OrNone()),
	shape.Of("server_tool_use", "", calls...),
	shape.Of("mcp_tool_use", "cache_control"),
	shape.Of(newerResults, "cache_control"),
	shape.Of(unrendered, "cache_control"),
	shape.Of("compaction", "content cache_control"),
	shape.Of(serverResults, "", shape.A(jsonscan.String, "tool_use_id"), shape.A(jsonscan.Invalid, "content")),
	shape.Of("container_upload", "", shape.A(jsonscan.String, "file_id")),
	shape.Of("tool_reference", "tool_name cache_control"),
)

// calls are the members that calls of tools must have.
var calls = []shape.Need{shape.A(jsonscan.String, "id"), shape.A(jsonscan.String, "name"), shape.A(jsonscan.Object, "input").OrNone()}

const serverResults = "web_search_tool_result web_fetch_tool_result code_execution_tool_result " +
	"bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result"

// The blocks of the assistant that the vendor puts into an answer and clients send back, beside
// server_tool_use and serverResults: results of the vendor's tools, and what the vendor does not
// show to the model.
const (
	newerResults = "advisor_tool_result mcp_tool_result mcp_tool_listing"
	unrendered   = "fallback"
)

// sourceShapes are the sources of images and documents.
var sourceShapes = shape.New("type",
	shape.Of("base64 text", "", shape.A(jsonscan.String, "media_type"), shape.A(jsonscan.String, "data")),
	shape.Of("url", "", shape.A(jsonscan.String, "url")),
	shape.Of("file", "", shape.A(jsonscan.String, "file_id")),
	shape.Of("content", "", shape.Texts("content", wantContent)),
)

var toolMembers = shape.New("type name description input_schema strict allowed_callers cache_control")

// The blocks that content may consist of, by the place of the content.
var (
	systemBlocks    = blockShapes.Types("text")
	userBlocks      = blockShapes.Types("text image document search_result tool_result")
	assistantBlocks = blockShapes.Types("text thinking redacted_thinking tool_use compaction "+unrendered) | serverBlocks
	serverBlocks    = blockShapes.Types("server_tool_use mcp_tool_use " + serverResults + " " + newerResults)
	resultBlocks    = blockShapes.Types("text image document search_result tool_reference")
	documentBlocks  = blockShapes.Types("text image")
	searchBlocks    = blockShapes.Types("text")

	blocksOf = [...]shape.Types{core.System: systemBlocks, core.User: userBlocks, core.Assistant: assistantBlocks}
)
