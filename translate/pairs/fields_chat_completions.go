package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// chatCompletionsFields are the fields of chat requests on their way to
// providers that only go on with a text (wire format B.7).
var chatCompletionsFields = slices.Concat(chatOptions, chatCompletionsOptions, chatTurns, chatCompletionsTurns)

var chatCompletionsOptions = []Field{
	keep("temperature", noSampling(translate.Completions)),
	keep("top_p", noSampling(translate.Completions), oneSampling(translate.Completions)),
	shape("top_k", noSampling(translate.Completions), extension(translate.Completions, Kept, "top_k")),
	keep("n"),
	keep("presence_penalty"),
	keep("frequency_penalty"),
	keep("logit_bias"),
	keep("seed"),
	keep("logprobs"),
	keep("top_logprobs"),
	hint("top_logprobs=without logprobs"),
	shape("reasoning_effort"),
	keep("user", noUser),
	keep("safety_identifier", noUser),
	hint("safety_identifier=beside user"),
	hint("service_tier"),
	refuse("tools", withoutTools),
	hint("tools=with tool_choice none"),
	as("tools", refuse("tool_choice", withoutTools)),
	shape("tool_choice=required or a function, without tools"),
	as("tools", refuse("parallel_tool_calls", withoutTools)),
	refuse("response_format.type=json_schema", schemas...),
	as("response_format", shape("response_format.type=json_object", refusedObject)),
	as("response_format", refuse("response_format.json_schema.schema", schemas...)),
	hint("response_format.json_schema.name"),
	hint("response_format.json_schema.*"),
}

var chatCompletionsTurns = []Field{
	keep("messages[*].role=system, developer, later", midSystem(translate.Completions)...),
	refuse("messages[*].role=tool"),
	keep("messages[*].role=assistant, at the end"),
	as("messages", keep("messages[*].content", noTemplate)),
	refuse("messages[*].tool_calls"),
	as("messages[*].tool_calls", refuse("messages[*].tool_calls[*].type=function, custom")),
	as("messages[*].tool_calls", refuse("messages[*].tool_calls[*].id")),
	as("messages[*].tool_calls", refuse("messages[*].tool_calls[*].function.arguments")),
	as("messages[*].role", refuse("messages[*].tool_call_id")),
	shape("messages[*].thinking_blocks"),
	refuse("messages[*].content[*].type=image_url"),
	refuse("messages[*].content[*].type=file"),
	as("messages[*].content[*].type", refuse("messages[*].content[*].image_url")),
	as("messages[*].content[*].type", refuse("messages[*].content[*].file")),
	hint("messages[*].content[*].cache_control"),
	hint("messages[*].content[*].prompt_cache_breakpoint"),
}
