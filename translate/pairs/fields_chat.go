package pairs

// chatOptions are the fields of chat requests that every provider of another
// format gets, or does not get, alike (wire format B.6, B.7).
var chatOptions = []Field{
	keep("model"),
	keep("max_tokens"),
	keep("max_completion_tokens"),
	keep("stop"),
	keep("stream"),
	keep("stream_options.include_usage"),
	hint("stream_options.include_obfuscation"),
	hint("stream_options.*"),
	shape("verbosity"),
	shape("prediction"),
	refuse("functions"),
	refuse("function_call"),
	keep("modalities=text"),
	refuse("modalities=any other"),
	refuse("audio"),
	refuse("web_search_options"),
	keep("response_format.type=text"),
	refuse("response_format.type=any other"),
	hint("response_format.*"),
	hint("metadata"),
	hint("store"),
	hint("prompt_cache_key"),
	hint("prompt_cache_options"),
	hint("prompt_cache_retention"),
	hint("moderation"),
	hint("*"),
}

// chatTurns are the rows of messages that are alike for all.
var chatTurns = []Field{
	keep("messages[*].role=system, developer, in front"),
	keep("messages[*].role=user"),
	keep("messages[*].role=assistant"),
	refuse("messages[*].role=function"),
	refuse("messages[*].function_call"),
	refuse("messages[*].audio"),
	keep("messages[*].refusal"),
	shape("messages[*].reasoning_content"),
	shape("messages[*].reasoning"),
	hint("messages[*].name"),
	hint("messages[*].*"),
	keep("messages[*].content[*].type=text"),
	keep("messages[*].content[*].type=refusal"),
	refuse("messages[*].content[*].type=input_audio"),
	refuse("messages[*].content[*].type=any other"),
	keep("messages[*].content[*].text"),
	keep("messages[*].content[*].refusal"),
	hint("messages[*].content[*].*"),
}
