package service

// xai are the refusals of xAI.
var xai = []Rule{
	{
		ID: "X1", Services: XAI, Formats: "chat responses", Models: "grok-3 grok-4 grok-4-latest grok-4-fast* grok-4-1-fast* grok-4.20* grok-code-fast-1", When: "effort", Code: "invalid-argument",
		Message: "Model {model} does not support parameter reasoningEffort.", Example: Set{"effort": "none"},
		Source: "BerriAI/litellm#16265, chenyme/grok2api#814, neavo/LinguaGacha#771, NousResearch/hermes-agent#23435",
	},
	{
		ID: "X2", Services: XAI, Formats: "chat responses", Models: grokReasoning, When: "presence_penalty",
		Message: "Model {model} does not support parameter presencePenalty.", Example: Set{"presence_penalty": 0.5}, Source: "open-webui/open-webui#21266",
	},
	{
		ID: "X2", Services: XAI, Formats: "chat responses", Models: grokReasoning, When: "frequency_penalty",
		Message: "Model {model} does not support parameter frequencyPenalty.", Example: Set{"frequency_penalty": 0.5}, Source: "open-webui/open-webui#21266",
	},
	{
		ID: "X3", Services: XAI, Formats: "chat", Models: grokReasoning, When: "stop", Code: "invalid-argument",
		Message: "Model {model} does not support parameter stop.", Example: Set{"stop": []string{"a"}}, Source: "lidge-jun/opencodex#5278, BerriAI/litellm-docs#817, BerriAI/litellm#12635, #11563",
	},
	{
		ID: "X4", Services: XAI, Formats: "chat responses", Models: "grok-4.5* grok-4.6*", When: "effort=none|max", Example: Set{"effort": "none"}, Source: "theopenco/llmgateway#3669",
	},
	{
		ID: "X4", Services: XAI, Formats: "chat responses", Models: "grok-4.7*", When: "effort=none", Example: Set{"effort": "none"}, Source: "mnfst/modelparams.dev#330",
	},
	{
		ID: "X5", Services: XAI, Formats: "chat responses", Models: "grok-4.3* grok-4.5*", When: "effort=xhigh", Example: Set{"effort": "xhigh"}, Source: "can1357/oh-my-pi#4888, theopenco/llmgateway#2973",
	},
	{
		ID: "X6", Services: XAI, Models: "grok-2*", Status: 404, Code: "Some requested entity was not found",
		Message: "The model {model} does not exist or your team 0123abcd does not have access to it. Please ensure you're using the correct API key. If you believe this is a mistake, please contact support and quote your team ID and the model name.",
		Source:  "ChatGPTNextWeb/NextChat#6397",
	},
}

const grokReasoning = "grok-4 grok-4-* grok-4.* grok-3-mini* grok-code-fast-1 !*non-reasoning*"

// mistral are the refusals of Mistral.
var mistral = concat([]Rule{
	{
		ID: "M1", Services: Mistral, When: "messages.*.tool_calls.*.id!~^[a-zA-Z0-9]{9}$",
		Message: "Tool call id was toolu_01ABC but must be a-z, A-Z, 0-9, with a length of 9.",
		Example: Set{"messages": []any{turn("user", "a"), Set{"role": "assistant", "tool_calls": []any{Set{"id": "toolu_01ABC"}}}, turn("tool", "b")}},
		Source:  "module/providers/models/README.md: reported",
	},
}, extra("user"), extra("stream_options"), extra("top_k"), []Rule{
	{
		ID: "M2", Services: Mistral, When: "messages.*@unknown", Status: 422, Param: "messages", Message: "Extra inputs are not permitted",
		Example: Set{"messages": []any{Set{"role": "user", "content": "a", "reasoning_content": "b"}}}, Source: "charmbracelet/crush#1590, BerriAI/litellm#30835, #30882",
	},
	{
		ID: "M3", Services: Mistral, Models: "mistral-large-4* zai-glm-5-3*", When: "effort=none", Example: Set{"effort": "none"}, Source: "@ai-sdk/mistral 4.0.87",
	},
	{
		ID: "M4", Services: Mistral, Models: "mistral-medium-3-5* mistral-medium-3.5* mistral-small-2603* magistral-*", When: "effort !effort=none|high",
		Example: Set{"effort": "low"}, Source: "@ai-sdk/mistral 4.0.87",
	},
	{
		ID: "M5", Services: Mistral, Formats: "recordings", Models: "voxtral-mini-2507 voxtral-mini-2602 voxtral-mini-latest", When: "language timestamp_granularities",
		Example: Set{"language": "en", "timestamp_granularities": "word"}, Source: "@ai-sdk/mistral 4.0.87",
	},
	{
		ID: "M6", Services: Mistral, Models: "mistral-large-2411 devstral-medium-2507", Type: "invalid_model", Code: "1500",
		Message: "Invalid model: {model}", Source: "mistralai/mistral-vibe#617, tmc/langchaingo#1233, vava-nessa/free-coding-models#185",
	},
	{
		ID: "M7", Services: Mistral, When: "messages.-1.role=assistant !messages.-1.prefix=true",
		Message: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
		Example: Set{"messages": []any{turn("user", "a"), turn("assistant", "b")}}, Source: "NEKOparapa/AiNiee#641",
	},
	{
		ID: "M8", Services: Mistral, When: "messages@unordered", Type: "invalid_request_message_order", Code: "3230",
		Message: "Unexpected role 'user' after role 'tool'",
		Example: Set{"messages": []any{turn("user", "a"), turn("assistant", "b"), turn("tool", "c"), turn("user", "d")}}, Source: "avante-corp/avante.nvim#2695, charmbracelet/crush#279",
	},
})

// extra returns the rule of a member that Mistral does not know.
func extra(member string) []Rule {
	return []Rule{{
		ID: "M2", Services: Mistral, When: member, Status: 422, Param: member, Message: "Extra inputs are not permitted",
		Example: Set{member: "a"}, Source: "partITech/php-mistral#76, charmbracelet/crush#1590",
	}}
}

// deepSeek are the refusals of DeepSeek.
var deepSeek = concat([]Rule{
	{
		ID: "D1", Services: DeepSeek, Formats: "chat", Models: "deepseek-v4-pro*", When: "messages.*.content.*.image_url",
		Message: "Model do not support image input",
		Example: Set{"messages": []any{turn("user", []any{Set{"type": "image_url", "image_url": Set{"url": "data:"}}})}}, Source: "docs.apiyi.com: deepseek-v4-flash; api-docs.deepseek.com/quick_start/pricing (vision: not supported)",
	},
	{
		ID: "D3", Services: DeepSeek, Formats: "chat", When: "messages.*@unreasoned !thinking.type=disabled", Code: "invalid_request_error",
		Message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
		Example: Set{"messages": []any{Set{"role": "assistant", "tool_calls": []any{Set{"id": "a"}}}, turn("tool", "b")}},
		Source:  "earendil-works/pi#3636, borawong/AiMaMi#8, continuedev/continue#12691",
	},
	{
		ID: "D3", Services: DeepSeek, Formats: "messages", When: "messages.*@unreasoned !thinking.type=disabled", Code: "invalid_request_error",
		Message: "The `content[].thinking` in the thinking mode must be passed back to the API.",
		Example: Set{"messages": []any{turn("assistant", []any{toolUse("a")}), turn("user", "b")}}, Source: "decolua/9router#2397",
	},
}, deepSeekLongest("deepseek-chat", "8192"), deepSeekLongest("deepseek-reasoner", "65536"), deepSeekLongest("deepseek-v4*", "393216"), []Rule{
	{
		ID: "D5", Services: DeepSeek, Formats: "chat", When: "response_format.type=json_schema", Code: "invalid_request_error",
		Message: "This response_format type is unavailable now", Example: Set{"response_format.type": "json_schema"}, Source: "llm-exe/llm-exe#662, UKGovernmentBEIS/inspect_ai#4916",
	},
	{
		ID: "D6", Services: DeepSeek, Formats: "chat", When: "response_format.type=json_object !messages~(?i)json", Code: "invalid_request_error",
		Message: "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'",
		Example: Set{"response_format.type": "json_object"}, Source: "browserbase/stagehand#1204",
	},
	{
		ID: "D7", Services: DeepSeek, Formats: "chat", Models: "deepseek-v4* deepseek-flash", When: "tool_choice=required !thinking.type=disabled",
		Message: "Thinking mode does not support this tool_choice", Example: Set{"tool_choice": "required"}, Source: "deepseek-ai/DeepSeek-V3#1376, BerriAI/litellm#37470, can1357/oh-my-pi#7315",
	},
	{
		ID: "D7", Services: DeepSeek, Formats: "chat", Models: "deepseek-v4* deepseek-flash", When: "tool_choice.function !thinking.type=disabled",
		Message: "Thinking mode does not support this tool_choice", Example: Set{"tool_choice.function.name": "f"}, Source: "deepseek-ai/DeepSeek-V3#1376, osaurus-ai/osaurus#1940",
	},
})

func deepSeekLongest(models, tokens string) []Rule {
	return []Rule{{
		ID: "D4", Services: DeepSeek, Formats: "chat", Models: models, When: "bound>" + tokens, Code: "invalid_request_error",
		Message: "Invalid max_tokens value, the valid range of max_tokens is [1, {limit}]", Example: Set{"bound": 1000000},
		Source: "Gitlawb/openclaude#35, Aider-AI/aider#4125, docs.apiyi.com: deepseek-v4-flash",
	}}
}

// groq are the refusals of Groq.
var groq = concat([]Rule{
	{
		ID: "Q1", Services: Groq, Formats: "chat", Models: "llama* meta-llama/* moonshotai/kimi*", When: "effort",
		Message: "reasoning_effort is not supported with this model", Example: Set{"effort": "low"}, Source: "brendanlong/lion-reader#1325",
	},
	{
		ID: "Q1", Services: Groq, Formats: "chat", Models: "openai/gpt-oss*", When: "effort=none", Example: Set{"effort": "none"}, Source: "theopenco/llmgateway#3422",
	},
	{
		ID: "Q2", Services: Groq, Formats: "chat", Models: "qwen/qwen3.6-27b qwen/qwen3-32b", When: "effort !effort=none|default",
		Message: "`reasoning_effort` must be one of `none` or `default`", Example: Set{"effort": "low"}, Source: "iamsrikanthnani/pluely#219, earendil-works/pi#1745",
	},
	{
		ID: "Q3", Services: Groq, Formats: "chat", Models: "llama-3.1-8b-instant llama-3.3-*", When: "response_format.type=json_schema",
		Message: "This model does not support response format json_schema.", Example: Set{"response_format.type": "json_schema"}, Source: "@ai-sdk/groq",
	},
	{
		ID: "Q4", Services: Groq, Formats: "chat", When: "response_format.type=json_schema|json_object tools",
		Message: "json mode cannot be combined with tool/function calling", Example: Set{"response_format.type": "json_object", "tools": functions(1)}, Source: "vercel/ai#16540, agno-agi/agno#1065",
	},
	{ID: "Q5", Services: Groq, Formats: "chat", When: "n>1", Example: Set{"n": 2}, Source: "console.groq.com/docs/openai"},
	{ID: "Q5", Services: Groq, Formats: "chat", When: "stop>4 stop~^\\[", Example: Set{"stop": []string{"a", "b", "c", "d", "e"}}, Source: "console.groq.com/docs/api-reference"},
	{
		ID: "Q6", Services: Groq, Models: "llama-3.3-70b-versatile qwen/qwen3-32b meta-llama/llama-4-*", Status: 404, Code: "model_not_found",
		Message: "The model `{model}` does not exist or you do not have access to it.", Source: "ITSpecialist111/ai_automation_suggester#187, decolua/9router#3558",
	},
	{
		ID: "Q7", Services: Groq, Formats: "chat", Models: "openai/gpt-oss*", When: "schema@open",
		Message: "invalid JSON schema for response_format: 'structured_data': `additionalProperties:false` must be set on every object",
		Example: Set{"schema": Set{"type": "object"}}, Source: "tidyverse/ellmer#930",
	},
	{
		ID: "Q8", Services: Groq, Formats: "chat", When: "messages.*.reasoning_content",
		Message: "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
		Example: Set{"messages": []any{turn("user", "a"), Set{"role": "assistant", "content": "b", "reasoning_content": "c"}, turn("user", "d")}},
		Source:  "janhq/jan#8136, SimonSchubert/Kai#265, NousResearch/hermes-agent#11089",
	},
	{
		ID: "Q8", Services: Groq, Formats: "chat", Models: "llama* moonshotai/kimi*", When: "messages.*.reasoning",
		Message: "messages[1].reasoning: reasoning is not supported with this model",
		Example: Set{"messages": []any{turn("user", "a"), Set{"role": "assistant", "content": "b", "reasoning": "c"}, turn("user", "d")}}, Source: "vercel/ai#8057",
	},
})

// cohere are the refusals of Cohere.
var cohere = []Rule{
	{
		ID: "C1", Services: CohereAI, Models: "command-r-08-2024 command-r-plus-08-2024", When: "tool_choice", Example: Set{"tool_choice": "REQUIRED"}, Source: "modelparams 0.0.18",
	},
	{ID: "C2", Services: CohereAI, Formats: "cohere", When: "stop_sequences>5", Example: Set{"stop_sequences": []string{"a", "b", "c", "d", "e", "f"}}, Source: "module/providers/models/README.md: unverified"},
	{ID: "C2", Services: CohereAI, Formats: "chat", When: "stop>5 stop~^\\[", Example: Set{"stop": []string{"a", "b", "c", "d", "e", "f"}}, Source: "module/providers/models/README.md: unverified"},
}
