package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// messagesChatFields are the fields of messages requests on their way to chat
// providers (wire format B.2 to B.5, B.9).
var messagesChatFields = slices.Concat(messagesOptions, messagesChatOptions, messagesChatTurns, messagesBlocks, messagesChatBlocks, messagesChatToolFields)

var messagesChatOptions = []Field{
	hint("system.*.cache_control", breakpoints),
	keep("temperature", noSampling(translate.Chat)),
	keep("top_p", noSampling(translate.Chat), oneSampling(translate.Chat)),
	shape("top_k", noSampling(translate.Chat), extension(translate.Chat, Kept, "top_k")),
	keep("tool_choice.type=auto, any, none, tool"),
	refuse("tool_choice.type=any other"),
	keep("tool_choice.name"),
	keep("tool_choice.disable_parallel_tool_use"),
	hint("tool_choice.*"),
	shape("thinking.type=enabled", effort("low"), extension(translate.Chat, Kept, templateArguments)).as("thinking"),
	keep("thinking.type=adaptive"),
	shape("thinking.type=disabled, between_tools", effort("none"), extension(translate.Chat, Kept, templateArguments)).as("thinking"),
	shape("thinking.budget_tokens", effort("low")).as("thinking"),
	hint("thinking.display"),
	hint("thinking.*"),
	shape("output_config.effort", extension(translate.Chat, Shaped, templateArguments), effort("high")),
	keep("output_config.format.type=json_schema"),
	keep("output_config.format.schema"),
	keep("output_format.type=json_schema"),
	keep("output_format.schema"),
	hint("service_tier", extension(translate.Chat, Kept, "service_tier")),
	hint("cache_control", breakpoints),
}

var messagesChatTurns = []Field{
	keep("messages.*.role=user"),
	keep("messages.*.role=assistant"),
	refuse("messages.*.role=assistant, at the end", prefills...).as("messages.*"),
	keep("messages.*.role=system", midSystem(translate.Chat)...),
	keep("messages.*.content"),
	shape("messages.*.content=text after a tool_use"),
	shape("messages.*.content=blocks before a tool_result"),
	shape("messages.*.output_config.effort", effort("high")),
	hint("messages.*.output_config.*"),
	hint("messages.*.output_config=of other roles than system"),
	keep("messages.*.clear_at"),
	hint("messages.*.clear_at=of other roles than system"),
	hint("messages.*.*"),
}

var messagesChatBlocks = []Field{
	keep("messages.*.content.*.type=text"),
	keep("messages.*.content.*.type=image"),
	keep("messages.*.content.*.type=document"),
	keep("messages.*.content.*.type=search_result"),
	keep("messages.*.content.*.type=tool_use"),
	keep("messages.*.content.*.type=tool_result"),
	hint("messages.*.content.*.type=thinking", replays(Kept)...).as("messages.*.content.*.thinking"),
	hint("messages.*.content.*.type=redacted_thinking").as("messages.*.content.*.data"),
	keep("messages.*.content.*.source.type=base64, of an image"),
	keep("messages.*.content.*.source.type=url, of an image", noAddresses),
	refuse("messages.*.content.*.source.type=file, of an image"),
	refuse("messages.*.content.*.source.type=base64, of a document", fileParts).as("messages.*.content.*.type"),
	keep("messages.*.content.*.source.type=text, of a document"),
	keep("messages.*.content.*.source.type=content, of a document"),
	refuse("messages.*.content.*.source.type=url, of a document"),
	refuse("messages.*.content.*.source.type=file, of a document"),
	keep("messages.*.content.*.source.media_type"),
	keep("messages.*.content.*.source.data"),
	keep("messages.*.content.*.source.url"),
	keep("messages.*.content.*.source.content"),
	refuse("messages.*.content.*.source.file_id").as("messages.*.content.*.source.type"),
	hint("messages.*.content.*.source.*"),
	keep("messages.*.content.*.title"),
	keep("messages.*.content.*.context"),
	hint("messages.*.content.*.thinking", replays(Kept)...),
	hint("messages.*.content.*.signature"),
	hint("messages.*.content.*.data"),
	keep("messages.*.content.*.id"),
	keep("messages.*.content.*.name"),
	keep("messages.*.content.*.input"),
	keep("messages.*.content.*.tool_use_id"),
	keep("messages.*.content.*.content"),
	keep("messages.*.content.*.content.*.type=text, image, document, search_result"),
	keep("messages.*.content.*.content.*.type=tool_reference"),
	keep("messages.*.content.*.content.*.tool_name"),
	refuse("messages.*.content.*.content.*.type=any other"),
	hint("messages.*.content.*.content.*.cache_control"),
	hint("messages.*.content.*.content.*.*"),
	keep("messages.*.content.*.is_error"),
	hint("messages.*.content.*.citations=of a text"),
	shape("messages.*.content.*.citations=of a document or search_result"),
	hint("messages.*.content.*.cache_control", breakpoints),
	hint("messages.*.content.*.cache_control.ttl"),
	hint("messages.*.content.*.caller"),
	hint("messages.*.content.*.toolset_name"),
	hint("messages.*.content.*.transformations"),
	hint("messages.*.content.*.*"),
}

var messagesChatToolFields = []Field{
	keep("tools.*.type=custom"),
	refuse("tools.*.type=any other", withoutTools),
	keep("tools.*.name"),
	keep("tools.*.description"),
	keep("tools.*.input_schema"),
	keep("tools.*.strict"),
	keep("tools.*.allowed_callers=with direct"),
	refuse("tools.*.allowed_callers=without direct"),
	hint("tools.*.defer_loading"),
	hint("tools.*.input_examples"),
	hint("tools.*.eager_input_streaming"),
	hint("tools.*.cache_control"),
	hint("tools.*.*"),
}
