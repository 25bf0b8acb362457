package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// chatMessagesFields are the fields of chat requests on their way to messages
// providers (wire format B.4 to B.6, B.9).
var chatMessagesFields = slices.Concat(chatOptions, chatMessagesOptions, chatMessagesToolFields, chatTurns, chatMessagesTurns, chatMessagesParts)

var chatMessagesOptions = []Field{
	hint("max_completion_tokens=absent").as("max_tokens"),
	keep("temperature", noSampling(translate.Messages)),
	shape("temperature=above 1"),
	keep("top_p", noSampling(translate.Messages), oneSampling(translate.Messages)),
	keep("top_k", noSampling(translate.Messages)),
	keep("n", oneCall),
	refuse("stop=an empty text").as("stop[*]"),
	shape("presence_penalty"),
	shape("frequency_penalty"),
	shape("logit_bias"),
	shape("seed"),
	refuse("logprobs"),
	refuse("top_logprobs").as("logprobs"),
	refuse("top_logprobs=without logprobs"),
	shape("reasoning_effort", thinks...),
	keep("user", noUser),
	keep("safety_identifier", noUser),
	hint("safety_identifier=beside user"),
	keep("service_tier"),
	hint("service_tier=any other"),
	keep("response_format.type=json_schema"),
	refuse("response_format.type=json_object", objectInWords).as("response_format"),
	keep("response_format.json_schema.schema"),
	hint("response_format.json_schema.name"),
	hint("response_format.json_schema.*"),
}

var chatMessagesToolFields = []Field{
	keep("tools"),
	keep("tools[*].type=function"),
	refuse("tools[*].type=custom", withoutTools),
	refuse("tools[*].type=any other", withoutTools),
	keep("tools[*].function"),
	keep("tools[*].function.name"),
	keep("tools[*].function.description"),
	keep("tools[*].function.parameters"),
	keep("tools[*].function.strict"),
	hint("tools[*].function.arguments"),
	hint("tools[*].function.*"),
	keep("tools[*].cache_control"),
	hint("tools[*].id"),
	hint("tools[*].*"),
	keep("tool_choice"),
	refuse("tool_choice=any other"),
	keep("tool_choice.type=function, allowed_tools"),
	refuse("tool_choice.type=any other"),
	keep("tool_choice.function.name"),
	hint("tool_choice.function.*"),
	keep("tool_choice.allowed_tools.mode"),
	keep("tool_choice.allowed_tools.tools"),
	hint("tool_choice.allowed_tools.tools[*].function.*"),
	hint("tool_choice.allowed_tools.tools[*].*"),
	hint("tool_choice.allowed_tools.*"),
	hint("tool_choice.*"),
	keep("parallel_tool_calls"),
}

var chatMessagesTurns = []Field{
	keep("messages[*].role=system, developer, later", midSystem(translate.Messages)...),
	keep("messages[*].role=tool"),
	shape("messages[*].role=tool, behind a user"),
	shape("messages[*].role=assistant, at the end").as("messages[*].content"),
	keep("messages[*].content"),
	refuse("messages[*].content=nothing of the user's"),
	keep("messages[*].tool_call_id"),
	keep("messages[*].tool_calls"),
	keep("messages[*].tool_calls[*].type=function"),
	refuse("messages[*].tool_calls[*].type=custom"),
	keep("messages[*].tool_calls[*].id"),
	keep("messages[*].tool_calls[*].cache_control"),
	hint("messages[*].tool_calls[*].*"),
	keep("messages[*].tool_calls[*].function.name"),
	keep("messages[*].tool_calls[*].function.arguments"),
	refuse("messages[*].tool_calls[*].function.arguments=no object"),
	hint("messages[*].tool_calls[*].function.description"),
	hint("messages[*].tool_calls[*].function.parameters"),
	hint("messages[*].tool_calls[*].function.strict"),
	hint("messages[*].tool_calls[*].function.*"),
	keep("messages[*].thinking_blocks"),
	shape("messages[*].thinking_blocks=without a signature"),
	hint("messages[*].thinking_blocks=signed by this gateway"),
	keep("messages[*].thinking_blocks[*].type=thinking, redacted_thinking"),
	refuse("messages[*].thinking_blocks[*].type=any other"),
	keep("messages[*].thinking_blocks[*].thinking"),
	keep("messages[*].thinking_blocks[*].signature"),
	keep("messages[*].thinking_blocks[*].data"),
	hint("messages[*].thinking_blocks[*].*"),
}

var chatMessagesParts = []Field{
	keep("messages[*].content[*].type=image_url"),
	keep("messages[*].content[*].image_url.url=data"),
	refuse("messages[*].content[*].image_url.url=data of another kind"),
	keep("messages[*].content[*].image_url.url=an address", noAddresses),
	hint("messages[*].content[*].image_url.detail"),
	hint("messages[*].content[*].image_url.*"),
	keep("messages[*].content[*].type=file"),
	keep("messages[*].content[*].file.file_data=a PDF, a plain text"),
	refuse("messages[*].content[*].file.file_data=any other"),
	refuse("messages[*].content[*].file.file_id"),
	keep("messages[*].content[*].file.filename"),
	hint("messages[*].content[*].file.*"),
	keep("messages[*].content[*].cache_control"),
	keep("messages[*].content[*].prompt_cache_breakpoint"),
	hint("messages[*].content[*].prompt_cache_breakpoint.ttl"),
}
