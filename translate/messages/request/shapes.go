package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
)

// blockShapes are the content blocks. Some providers omit what is empty: the signature of
// thinking that they do not sign, and the input of a call without arguments. Clients send
// such blocks back unchanged.
var blockShapes = schema.New("type",
	schema.Of("text", "citations cache_control", schema.A(jsonscan.String, "text")),
	schema.Of("image", "cache_control", schema.A(jsonscan.Object, "source")),
	schema.Of("document", "title context citations cache_control", schema.A(jsonscan.Object, "source")),
	schema.Of("search_result", "citations cache_control",
		schema.A(jsonscan.String, "source"), schema.A(jsonscan.String, "title"), schema.A(jsonscan.Array, "content")),
	schema.Of("thinking", "", schema.A(jsonscan.String, "thinking"), schema.A(jsonscan.String, "signature").OrNone()),
	schema.Of("redacted_thinking", "", schema.A(jsonscan.String, "data")),
	schema.Of("tool_use", "cache_control", calls...),
	schema.Of("tool_result", "is_error cache_control", schema.A(jsonscan.String, "tool_use_id"), schema.Texts("content", wantContent).OrNone()),
	schema.Of("server_tool_use", "", calls...),
	schema.Of("mcp_tool_use", "cache_control"),
	schema.Of(newerResults, "cache_control"),
	schema.Of(unrendered, "cache_control"),
	schema.Of("compaction", "content cache_control"),
	schema.Of(serverResults, "", schema.A(jsonscan.String, "tool_use_id"), schema.A(jsonscan.Invalid, "content")),
	schema.Of("container_upload", "", schema.A(jsonscan.String, "file_id")),
	schema.Of("tool_reference", "tool_name cache_control"),
)

// calls are the members that calls of tools must have.
var calls = []schema.Need{schema.A(jsonscan.String, "id"), schema.A(jsonscan.String, "name"), schema.A(jsonscan.Object, "input").OrNone()}

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
var sourceShapes = schema.New("type",
	schema.Of("base64 text", "", schema.A(jsonscan.String, "media_type"), schema.A(jsonscan.String, "data")),
	schema.Of("url", "", schema.A(jsonscan.String, "url")),
	schema.Of("file", "", schema.A(jsonscan.String, "file_id")),
	schema.Of("content", "", schema.Texts("content", wantContent)),
)

var toolMembers = schema.New("type name description input_schema strict allowed_callers cache_control")

// The blocks that content may consist of, by the place of the content.
var (
	systemBlocks    = blockShapes.Types("text")
	userBlocks      = blockShapes.Types("text image document search_result tool_result")
	assistantBlocks = blockShapes.Types("text thinking redacted_thinking tool_use compaction "+unrendered) | serverBlocks
	serverBlocks    = blockShapes.Types("server_tool_use mcp_tool_use " + serverResults + " " + newerResults)
	resultBlocks    = blockShapes.Types("text image document search_result tool_reference")
	documentBlocks  = blockShapes.Types("text image")
	searchBlocks    = blockShapes.Types("text")

	blocksOf = [...]schema.TypeSet{core.System: systemBlocks, core.User: userBlocks, core.Assistant: assistantBlocks}
)
