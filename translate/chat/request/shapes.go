package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// The messages of a conversation, by their roles, and what they consist of.
var (
	messageShapes = shape.New("role content",
		shape.Of("system developer user", ""),
		shape.Of("tool", "", shape.A(jsonscan.String, "tool_call_id")),
		shape.Of("assistant", "tool_calls function_call refusal audio reasoning_content reasoning thinking_blocks"),
	)
	// partShapes are the parts of a content, and the thinking blocks.
	partShapes = shape.New("type",
		shape.Of("text", "text cache_control prompt_cache_breakpoint"),
		shape.Of("refusal", "refusal cache_control prompt_cache_breakpoint"),
		shape.Of("image_url", "image_url cache_control prompt_cache_breakpoint"),
		shape.Of("file", "file cache_control prompt_cache_breakpoint"),
		shape.Of("input_audio", "input_audio cache_control prompt_cache_breakpoint"),
		shape.Of("audio_url", "audio_url cache_control prompt_cache_breakpoint"),
		shape.Of("video_url", "video_url cache_control prompt_cache_breakpoint"),
		shape.Of("thinking", "thinking signature"),
		shape.Of("redacted_thinking", "data"),
	)
	// mediaShapes are the objects of images, recordings and files, by the names of the objects.
	mediaShapes = shape.New("",
		shape.Of("image_url", "url detail"),
		shape.Of("file", "file_data file_id filename"),
		shape.Of("input_audio", "data format"),
		shape.Of("audio_url", "url"),
		shape.Of("video_url", "url"),
	)
	callShapes = shape.New("type id cache_control extra_content",
		shape.Of("function", "function"),
		shape.Of("custom", "custom"),
	)
	// calledShapes are the objects that state what is called, by their names.
	calledShapes = shape.New("name",
		shape.Of("function", "arguments"),
		shape.Of("custom", "input"),
	)
)

// The tools, the choice among them, and the format of the answer.
var (
	toolShapes = shape.New("type cache_control",
		shape.Of("function", "function"),
		shape.Of("custom", "custom"),
	)
	// definitionShapes are the objects that define a tool, by their names.
	definitionShapes = shape.New("name description",
		shape.Of("function", "parameters strict"),
		shape.Of("custom", "format"),
	)
	customFormats = shape.New("type",
		shape.Of("text", ""),
		shape.Of("grammar", "grammar"),
	)
	grammarMembers = shape.New("syntax definition")

	choiceShapes = shape.New("type",
		shape.Of("function", "function"),
		shape.Of("custom", "custom"),
		shape.Of("allowed_tools", "allowed_tools"),
	)
	chosenMembers  = shape.New("name")
	allowedMembers = shape.New("mode tools")

	answerFormats = shape.New("type",
		shape.Of("text json_object", ""),
		shape.Of("json_schema", "json_schema"),
	)
)
