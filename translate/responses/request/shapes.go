package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// wantParts is the requirement on the content of an item.
const wantParts = "must be a string or an array of content parts"

// itemShapes are the items of the input. Faults of an item are reported in the order in
// which its members appear here.
var itemShapes = shape.New("type id status",
	shape.Of("message", "", shape.A(jsonscan.String, "role"), shape.Texts("content", wantParts)),
	shape.Of("item_reference", "", shape.A(jsonscan.String, "id")),
	shape.Of("function_call", "namespace",
		shape.A(jsonscan.String, "call_id"), shape.A(jsonscan.String, "name"), shape.A(jsonscan.String, "arguments")),
	shape.Of("custom_tool_call", "namespace",
		shape.A(jsonscan.String, "call_id"), shape.A(jsonscan.String, "name"), shape.A(jsonscan.String, "input")),
	// The vendor takes results without the id of a call as well; other formats do not.
	shape.Of("function_call_output custom_tool_call_output", "",
		shape.A(jsonscan.String, "call_id").OrNone(), shape.Texts("output", wantParts)),
	shape.Of("reasoning", "content encrypted_content", shape.A(jsonscan.Array, "summary")),
	shape.Of("additional_tools", "role", shape.A(jsonscan.Array, "tools")),
	shape.Of("tool_search_output", "call_id execution", shape.A(jsonscan.Array, "tools")),
	shape.Of("tool_search_call", "call_id arguments execution"),
	shape.Of("configuration_update", "reasoning text"),
)

// messageShape is the shape of an item without a type.
var messageShape = itemShapes.Named("message")

// partShapes are the parts of a content, and those of reasoning.
var partShapes = shape.New("type",
	shape.Of("input_text output_text text", "text prompt_cache_breakpoint"),
	shape.Of("refusal", "refusal"),
	shape.Of("input_image", "image_url detail file_id prompt_cache_breakpoint"),
	shape.Of("input_file", "file_id file_data file_url filename prompt_cache_breakpoint"),
	shape.Of("input_audio", "input_audio prompt_cache_breakpoint"),
	shape.Of("summary_text", "text"),
)

// thoughtShape is the shape of a part of reasoning, whatever its type is.
var thoughtShape = partShapes.Named("summary_text")

var soundMembers = shape.New("data format")

var toolShapes = shape.New("type",
	shape.Of("function", "name description parameters strict allowed_callers"),
	shape.Of("custom", "name description format allowed_callers"),
	shape.Of("namespace", "name tools"),
	shape.Of("tool_search", "description parameters execution"),
	shape.Of(imageTool, ""),
)

// customFormats are the formats of free texts.
var customFormats = shape.New("type",
	shape.Of("text", ""),
	shape.Of("grammar", "syntax definition"),
)

// choiceShapes are the choices among the tools, and the references to tools.
var choiceShapes = shape.New("type",
	shape.Of("function custom", "name namespace"),
	shape.Of("allowed_tools", "mode tools"),
	shape.Of(imageTool, ""),
)
