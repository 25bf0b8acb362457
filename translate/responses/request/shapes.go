package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
)

// wantParts is the requirement on the content of an item.
const wantParts = "must be a string or an array of content parts"

// itemShapes are the items of the input. Faults of an item are reported in the order in
// which its members appear here.
var itemShapes = schema.New("type id status",
	schema.Of("message", "", schema.A(jsonscan.String, "role"), schema.Texts("content", wantParts)),
	schema.Of("item_reference", "", schema.A(jsonscan.String, "id")),
	schema.Of("function_call", "namespace",
		schema.A(jsonscan.String, "call_id"), schema.A(jsonscan.String, "name"), schema.A(jsonscan.String, "arguments")),
	schema.Of("custom_tool_call", "namespace",
		schema.A(jsonscan.String, "call_id"), schema.A(jsonscan.String, "name"), schema.A(jsonscan.String, "input")),
	// The vendor takes results without the id of a call as well; other formats do not.
	schema.Of("function_call_output custom_tool_call_output", "",
		schema.A(jsonscan.String, "call_id").OrNone(), schema.Texts("output", wantParts)),
	schema.Of("reasoning", "content encrypted_content", schema.A(jsonscan.Array, "summary")),
	schema.Of("additional_tools", "role", schema.A(jsonscan.Array, "tools")),
	schema.Of("tool_search_output", "call_id execution", schema.A(jsonscan.Array, "tools")),
	schema.Of("tool_search_call", "call_id arguments execution"),
	schema.Of("configuration_update", "reasoning text"),
)

// messageShape is the shape of an item without a type.
var messageShape = itemShapes.Named("message")

// partShapes are the parts of a content, and those of reasoning.
var partShapes = schema.New("type",
	schema.Of("input_text output_text text", "text prompt_cache_breakpoint"),
	schema.Of("refusal", "refusal"),
	schema.Of("input_image", "image_url detail file_id prompt_cache_breakpoint"),
	schema.Of("input_file", "file_id file_data file_url filename prompt_cache_breakpoint"),
	schema.Of("input_audio", "input_audio prompt_cache_breakpoint"),
	schema.Of("summary_text", "text"),
)

// thoughtShape is the shape of a part of reasoning, whatever its type is.
var thoughtShape = partShapes.Named("summary_text")

var soundMembers = schema.New("data format")

var toolShapes = schema.New("type",
	schema.Of("function", "name description parameters strict allowed_callers"),
	schema.Of("custom", "name description format allowed_callers"),
	schema.Of("namespace", "name tools"),
	schema.Of("tool_search", "description parameters execution"),
	schema.Of(imageTool, ""),
)

// customFormats are the formats of free texts.
var customFormats = schema.New("type",
	schema.Of("text", ""),
	schema.Of("grammar", "syntax definition"),
)

// choiceShapes are the choices among the tools, and the references to tools.
var choiceShapes = schema.New("type",
	schema.Of("function custom", "name namespace"),
	schema.Of("allowed_tools", "mode tools"),
	schema.Of(imageTool, ""),
)
