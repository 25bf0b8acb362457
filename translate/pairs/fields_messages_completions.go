package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// messagesCompletionsFields are the fields of messages requests on their way to
// providers that only go on with a text (wire format B.7).
var messagesCompletionsFields = slices.Concat(messagesOptions, messagesCompletionsOptions, messagesCompletionsTurns, messagesBlocks, messagesCompletionsBlocks)

var messagesCompletionsOptions = []Field{
	hint("system.*.cache_control"),
	keep("temperature", noSampling(translate.Completions)),
	keep("top_p", noSampling(translate.Completions)),
	as("top_p", keep("temperature+top_p", noSampling(translate.Completions), oneSampling(translate.Completions))),
	shape("top_k", noSampling(translate.Completions), extension(translate.Completions, Kept, "top_k")),
	refuse("tools", withoutTools),
	as("tools", hint("tools+tool_choice.type=none")),
	as("tools", refuse("tool_choice", withoutTools)),
	as("tool_choice", shape("tools=[]+tool_choice.type=any")),
	hint("service_tier"),
	shape("thinking"),
	shape("output_config.effort"),
	refuse("output_config.format.type=json_schema", schemas...),
	as("output_config.format", refuse("output_config.format.schema", schemas...)),
	refuse("output_format.type=json_schema", schemas...),
	as("output_format", refuse("output_format.schema", schemas...)),
	hint("cache_control"),
}

var messagesCompletionsTurns = []Field{
	keep("messages.*.role=user"),
	keep("messages.*.role=assistant"),
	keep("messages.-1.role=assistant"),
	keep("messages.*.role=system", midSystem(translate.Completions)...),
	as("messages", keep("messages.*.content", noTemplate)),
	as(emptyTurn, hint("messages.*.content=[]")),
	as("messages.*.output_config", shape("messages.*.output_config.effort")),
	as("messages.*.output_config", shape("messages.*.output_config.*")),
	as("messages.*.output_config", hint("messages.*.role=user+output_config")),
	keep("messages.*.clear_at"),
	as("messages.*.clear_at", hint("messages.*.role=user+clear_at")),
	hint("messages.*.*"),
}

var messagesCompletionsBlocks = []Field{
	keep("messages.*.content.*.type=text"),
	refuse("messages.*.content.*.type=image"),
	refuse("messages.*.content.*.type=document"),
	refuse("messages.*.content.*.type=search_result"),
	refuse("messages.*.content.*.type=tool_use"),
	refuse("messages.*.content.*.type=tool_result"),
	as("messages.*.content.*.thinking", hint("messages.*.content.*.type=thinking")),
	as("messages.*.content.*.data", hint("messages.*.content.*.type=redacted_thinking")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.source")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.title")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.context")),
	hint("messages.*.content.*.thinking"),
	as("messages.*.content.*.thinking", hint("messages.*.content.*.signature")),
	hint("messages.*.content.*.data"),
	as("messages.*.content.*.type", refuse("messages.*.content.*.id")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.name")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.input")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.tool_use_id")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.content")),
	as("messages.*.content.*.type", refuse("messages.*.content.*.is_error")),
	as("messages.*.content.*.citations", hint("messages.*.content.*.type=text+citations")),
	hint("messages.*.content.*.cache_control"),
	hint("messages.*.content.*.*"),
}
