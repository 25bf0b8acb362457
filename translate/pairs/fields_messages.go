package pairs

// messagesOptions are the fields of messages requests that every provider of
// another format gets, or does not get, alike (wire format B.2).
var messagesOptions = []Field{
	keep("model"),
	keep("max_tokens"),
	keep("max_tokens=...", boundedAnswer),
	keep("system"),
	keep("system.*.type=text"),
	keep("system.*.text"),
	hint("system.*.citations"),
	hint("system.*.*"),
	keep("stop_sequences"),
	keep("stream"),
	refuse("output_config.format.type=*"),
	hint("output_config.format.*"),
	hint("output_config.task_budget"),
	hint("output_config.*"),
	refuse("output_format.type=*"),
	hint("output_format.*"),
	keep("metadata.user_id", noUser),
	shape("metadata.user_id=...", noUser),
	hint("metadata.*"),
	refuse("inference_geo"),
	refuse("container"),
	refuse("mcp_servers"),
	refuse("thread"),
	hint("context_management"),
	hint("compaction"),
	hint("diagnostics"),
	hint("speed"),
	hint("fallbacks"),
	hint("fallback_credit_token"),
	hint("billing_policy"),
	hint("*"),
}

// messagesBlocks are the blocks of which the same becomes towards every other
// format: what the provider's own tools did is told to nobody else.
var messagesBlocks = []Field{
	as("messages.*.content.*", shape("messages.*.content.*.type=server_tool_use")),
	as("messages.*.content.*", shape("messages.*.content.*.type=web_search_tool_result")),
	as("messages.*.content.*", shape("messages.*.content.*.type=web_fetch_tool_result")),
	as("messages.*.content.*", shape("messages.*.content.*.type=code_execution_tool_result")),
	as("messages.*.content.*", shape("messages.*.content.*.type=bash_code_execution_tool_result")),
	as("messages.*.content.*", shape("messages.*.content.*.type=text_editor_code_execution_tool_result")),
	as("messages.*.content.*", shape("messages.*.content.*.type=tool_search_tool_result")),
	refuse("messages.*.content.*.type=container_upload"),
	refuse("messages.*.content.*.type=*"),
	keep("messages.*.content.*.text"),
}
