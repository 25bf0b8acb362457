package service

// The models of Anthropic, at whichever service.
const (
	claude41 = "*claude-opus-4-1*"
	claude45 = "*claude-*-4-5*"
	claude46 = "*claude-*-4-6*"
	claude47 = "*claude-opus-4-7* *claude-opus-4-8*"
	claude5  = "*claude-opus-5* *claude-sonnet-5* *claude-haiku-5* *claude-fable-* *claude-mythos-*"
	// alwaysThinking are the models that cannot be asked not to think.
	alwaysThinking = "*claude-opus-5-5* *claude-sonnet-5-5* *claude-fable-* *claude-mythos-*"
	olderClaude    = "*claude-3* *claude-opus-4-0* *claude-opus-4-2025* *claude-sonnet-4-0* *claude-sonnet-4-2025* " + claude41
)

const (
	atClaude    = "anthropic vertex bedrock azure"
	asClaude    = "messages converse"
	useAdaptive = ` is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
	forced      = `forced~^(any|tool|\{.*)$` // in Converse, the member is an object
	deprecated  = "`{param}` is deprecated for this model."
)

// claude are the refusals of Anthropic, which are those of its models at other services.
var claude = concat([]Rule{
	{
		ID: "A1", Services: atClaude, Formats: asClaude, Models: claude41 + " " + claude45 + " " + claude46, When: "temperature top_p",
		Message: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
		Example: Set{"temperature": 0.5, "top_p": 0.9}, Source: "BerriAI/litellm#15097, Vali-98/ChatterUI#564, SalesforceAIResearch/MCP-Universe#49, skydiscover-ai/skydiscover#15",
	},
	{
		ID: "A2", Services: atClaude, Formats: asClaude, Models: claude47 + " " + claude5, When: "temperature !temperature=1", Param: "temperature",
		Message: deprecated, Example: Set{"temperature": 0.5}, Source: "conselara.dev/notes/opus-4-8-temperature-deprecated",
	},
	{
		ID: "A2", Services: atClaude, Formats: asClaude, Models: claude47 + " " + claude5, When: "top_p", Param: "top_p",
		Message: deprecated, Example: Set{"top_p": 0.9}, Source: "@ai-sdk/anthropic",
	},
	{
		ID: "A2", Services: atClaude, Formats: asClaude, Models: claude47 + " " + claude5, When: "top_k", Param: "top_k",
		Message: deprecated, Example: Set{"top_k": 40}, Source: "@ai-sdk/anthropic",
	},
	{
		ID: "A3", Services: atClaude, Formats: asClaude, Models: claude47 + " " + claude5, When: "thinking.type=enabled",
		Message: `"thinking.type.enabled"` + useAdaptive, Example: Set{"thinking": Set{"type": "enabled", "budget_tokens": 2048}, "bound": 4096},
		Source: "earendil-works/pi#3297, Sylinko/Everywhere#410, openclaw/openclaw#117871, lidge-jun/opencodex#65",
	},
	{
		ID: "A4", Services: atClaude, Formats: asClaude, Models: claude45 + " " + olderClaude, When: "thinking.type=adaptive",
		Message: "adaptive thinking is not supported on this model", Example: Set{"thinking.type": "adaptive"}, Source: "pensarai/apex#890, lidge-jun/opencodex#65",
	},
	{
		ID: "A5", Services: atClaude, Formats: asClaude, Models: alwaysThinking, When: "thinking.type=disabled",
		Message: `"thinking.type.disabled"` + useAdaptive, Example: Set{"thinking.type": "disabled"}, Source: "platform.claude.com: what's new in Opus 5.5, migration to Fable 5",
	},
	{
		ID: "A6", Services: atClaude, Formats: asClaude, Models: "*claude-opus-5 *claude-opus-5@* *claude-opus-5-20* *claude-haiku-5-5*",
		When:    "output_config.effort=xhigh|max thinking.type=disabled",
		Message: "output_config.effort '{value}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
		Example: Set{"output_config.effort": "xhigh", "thinking.type": "disabled"}, Source: "anthropics/claude-code#81084, #76997",
	},
	{
		ID: "A7", Services: atClaude, Formats: asClaude, Models: "*claude-haiku-4-5* *claude-sonnet-4-5* " + olderClaude, When: "output_config.effort",
		Message: "This model does not support the effort parameter.", Example: Set{"output_config.effort": "low"}, Source: "anthropics/claude-code#30010, Oaklight/llm-rosetta#289",
	},
}, claudeEfforts("*claude-opus-4-5*", "low|medium|high"), claudeEfforts(claude46, "low|medium|high|max"),
	claudeEfforts(claude47+" "+claude5, "low|medium|high|xhigh|max"),
	[]Rule{
		{
			ID: "A9", Services: atClaude, Formats: asClaude, Models: claude46 + " " + claude47 + " " + claude5, When: "messages.-1.role=assistant",
			Message: "This model does not support assistant message prefill. The conversation must end with a user message.",
			Example: Set{"messages": []any{turn("user", "a"), turn("assistant", "b")}},
			Source:  "smallmain/vscode-unify-chat-provider#249, router-for-me/CLIProxyAPI#5319, cortexkit/magic-context#511, vybestack/llxprt-code#3695",
		},
		{
			ID: "A10", Services: atClaude, Formats: asClaude, Models: alwaysThinking, When: forced,
			Message: "tool_choice forces tool use is not compatible with this model", Example: Set{"forced": "any"}, Source: "Yeachan-Heo/gajae-code#482, vercel/ai#21364",
		},
		{
			ID: "A11", Services: atClaude, Formats: asClaude, Models: "*claude-*", When: forced + " thinking.type=enabled|adaptive",
			Message: "Thinking may not be enabled when tool_choice forces tool use.",
			Example: Set{"forced": "any", "thinking": Set{"type": "adaptive"}}, Source: "mastra-ai/mastra#7507, pydantic/pydantic-ai#5911",
		},
	},
	claudeLongest("*claude-3-haiku* *claude-3-opus*", "4096"), claudeLongest(claude41, "32000"), claudeLongest(claude45, "64000"),
	claudeLongest(claude46+" "+claude47+" "+claude5, "128000"),
	[]Rule{
		{
			ID: "A13", Services: atClaude, Formats: asClaude, Models: claude45 + " " + claude41, When: inputTokens + ">200000",
			Message: "prompt is too long: {value} tokens > {limit} maximum", Example: Set{"messages": []any{turn("user", long(900000))}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A13", Services: atClaude, Formats: asClaude, Models: claude45 + " " + claude41, When: totalTokens + ">200000",
			Message: "input length and `max_tokens` exceed context limit: {value} > {limit}, decrease input length or `max_tokens` and try again",
			Example: Set{"messages": []any{turn("user", long(790000))}, "bound": 32000}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A14", Services: atClaude, Formats: asClaude, Models: "*claude-*", When: "thinking.budget_tokens<1024",
			Message: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
			Example: Set{"thinking": Set{"type": "enabled", "budget_tokens": 1000}, "bound": 4096}, Source: "themaximalist/llm.js#30",
		},
		{
			ID: "A14", Services: atClaude, Formats: asClaude, Models: "*claude-*", When: "thinking.budget_tokens !thinking.budget_tokens<bound",
			Message: "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
			Example: Set{"thinking": Set{"type": "enabled", "budget_tokens": 4096}, "bound": 4096}, Source: "liuw1535/antigravity2api-nodejs#150",
		},
		{
			ID: "A15", Services: atClaude, Formats: "messages", Models: "*claude-*", When: `messages.*.content.*.text~^\s*$`,
			Message: "messages: text content blocks must contain non-whitespace text",
			Example: Set{"messages": []any{turn("user", []any{Set{"type": "text", "text": " "}})}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A16", Services: atClaude, Formats: "messages", Models: "*claude-*", When: "output_config.format.schema@open",
			Message: "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
			Example: Set{"output_config.format": Set{"type": "json_schema", "schema": Set{"type": "object"}}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A17", Services: atClaude, Formats: "messages", Models: "*claude-*", When: "tools.*.name!~^[a-zA-Z0-9_-]{1,128}$",
			Message: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
			Example: Set{"tools": []any{Set{"name": "a.b", "input_schema": Set{"type": "object"}}}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A18", Services: atClaude, Formats: "messages", Models: "*claude-*", When: "messages.*.content.*.id@twice",
			Message: "messages.3.content.1: `tool_use` ids must be unique",
			Example: Set{"messages": []any{turn("assistant", []any{toolUse("a"), toolUse("a")}), turn("user", "b")}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A18", Services: atClaude, Formats: "messages", Models: "*claude-*", When: "messages.*.content.*.id!~^[a-zA-Z0-9_-]+$",
			Message: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
			Example: Set{"messages": []any{turn("assistant", []any{toolUse("a:b")}), turn("user", "b")}}, Source: "module/providers/models/README.md: reported",
		},
		{
			ID: "A19", Services: "anthropic", Models: "claude-3-5-* claude-3-7-* claude-opus-4-0 claude-opus-4-2025* claude-sonnet-4-0 claude-sonnet-4-2025*",
			Status: 404, Type: "not_found_error", Message: "model: {model}", Source: "browser-use/browser-use#5085",
		},
		{
			ID: "A20", Services: "anthropic vertex", Formats: "messages", Models: "*claude-opus-5-5* *claude-sonnet-5-5*", When: "tools.*.type=computer_20251124",
			Example: Set{"tools": []any{Set{"type": "computer_20251124", "name": "computer"}}}, Source: "platform.claude.com: what's new in Opus 5.5",
		},
	})

// claudeEfforts returns the rule of models that take these words, which | separates. The sentence
// of the vendor is not known.
func claudeEfforts(models, words string) []Rule {
	return []Rule{{
		ID: "A8", Services: atClaude, Formats: asClaude, Models: models, When: "output_config.effort !output_config.effort=" + words,
		Example: Set{"output_config.effort": "minimal"}, Source: "lidge-jun/opencodex#65, platform.claude.com/docs/build-with-claude/effort",
	}}
}

// claudeLongest returns the rule of models whose longest answer has a number of tokens.
func claudeLongest(models, tokens string) []Rule {
	return []Rule{{
		ID: "A12", Services: atClaude, Formats: asClaude, Models: models, When: "bound>" + tokens,
		Message: "max_tokens: {value} > {limit}, which is the maximum allowed number of output tokens for {model}",
		Example: Set{"bound": 1000000}, Source: "OpenHands/OpenHands#11090",
	}}
}

// toolUse returns a call in the format of messages.
func toolUse(id string) Set { return Set{"type": "tool_use", "id": id, "name": "f", "input": Set{}} }
