package service

// The models of OpenAI, by what they have in common.
const (
	reasoners = "o1* o3* o4-mini* gpt-5* gpt-6*"
	// laterGPT may be asked not to reason.
	laterGPT = "gpt-5.1* gpt-5.2* gpt-5.4* gpt-5.5* gpt-5.6* gpt-6-sol* gpt-6-luna* gpt-6.1-terra*" + noPro
	// thinkUnasked are those of laterGPT that reason if no effort is stated.
	thinkUnasked = "gpt-5.5* gpt-5.6* gpt-6-sol* gpt-6-luna* gpt-6.1-terra*" + noPro
	// alwaysReasoning are the models that cannot be asked not to reason.
	alwaysReasoning = "gpt-6-astra* gpt-6.1-sol* gpt-6.2-* gpt-5 gpt-5-20* gpt-5-mini* gpt-5-nano* o1* o3* o4-mini* *-pro* *-codex*"
	withoutEffort   = "gpt-4* gpt-3.5*"
	noPro           = " !*-pro* !*-codex*"
	parallelless    = "o1* o3* o4-mini*"
	onlyResponses   = "*-codex* gpt-5-pro* gpt-5.2-pro* gpt-5.4-pro* gpt-5.5-pro* o1-pro* o3-pro* *-deep-research*"
	// withTools are the models whose tools have no reasoning in chat.
	withToolsStated = "gpt-5.4* gpt-5.5*" + noPro
	withTools       = "gpt-5.6* gpt-6-sol* gpt-6-luna* gpt-6.1-terra* gpt-6-astra*"
)

const (
	atOpenAI    = "openai azure"
	parameter   = "unsupported_parameter"
	wrongValue  = "unsupported_value"
	noParameter = "Unsupported parameter: '{param}' is not supported with this model."
	noEffort    = "Unsupported value: '{value}' is not supported with the '{model}' model. Supported values are: {words}."
	longArray   = "Invalid '{param}': array too long. Expected an array with maximum length {limit}, but got an array with length {count} instead."
	tooLarge    = "max_tokens is too large: {value}. This model supports at most {limit} completion tokens, whereas you provided {value}."
	noTools     = "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
	longContext = "This model's maximum context length is {limit} tokens. However, you requested {value} tokens. Please reduce the length of the messages or completion."
)

// openAI are the refusals of OpenAI, which Azure's are, too.
var openAI = concat([]Rule{
	{
		ID: "O1", Services: atOpenAI, Formats: "chat", Models: reasoners, When: "max_tokens", Param: "max_tokens", Code: parameter,
		Message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
		Example: Set{"max_tokens": 100}, Source: "devnullvoid/dms-ai-assistant#12, langflow-ai/openrag#398, teilomillet/gollm#33",
	},
	{
		ID: "O2", Services: atOpenAI, Formats: "chat responses", Models: "o1* o3* o4-mini* gpt-5.2-codex", When: "temperature", Param: "temperature",
		Message: noParameter, Example: Set{"temperature": 0.5}, Source: "tarasglek/chatcraft.org#852, OpenHands/software-agent-sdk#1837",
	},
	{
		ID: "O3", Services: atOpenAI, Formats: "chat", Models: "gpt-5 gpt-5-mini gpt-5-nano", When: "temperature !temperature=1", Param: "temperature", Code: wrongValue,
		Message: "Unsupported value: 'temperature' does not support {value} with this model. Only the default (1) value is supported.",
		Example: Set{"temperature": 0}, Source: "johny-b/llmcomp#69, Usagi-org/ai-goofish-monitor#198",
	},
	{
		ID: "O4", Services: atOpenAI, Formats: "chat responses", Models: "gpt-5 gpt-5-20* gpt-5-mini* gpt-5-nano* gpt-5-pro*", When: "top_p", Param: "top_p", Code: parameter,
		Message: noParameter, Example: Set{"top_p": 0.9}, Source: "HIllya51/LunaTranslator#1842, brainlid/langchain#428",
	},
}, without("O5", laterGPT, "effort !effort=none", Set{"effort": "low"}, "@ai-sdk/openai 4.0.118"),
	without("O20", thinkUnasked, "!effort=none", nil, "BerriAI/litellm-docs#1064, UKGovernmentBEIS/inspect_ai#5162"),
	unweighed("presence_penalty", 0.5), unweighed("frequency_penalty", 0.5), unweighed("logit_bias", Set{"50256": -100}),
	without("O6", alwaysReasoning, "", nil, "@ai-sdk/openai 4.0.118, BerriAI/litellm-docs#1173"),
	[]Rule{
		{
			ID: "O7", Services: atOpenAI, Formats: "chat", Models: "o3* o4-mini* gpt-5 gpt-5-20* gpt-5-mini* gpt-5-nano* gpt-5.1* gpt-5.2* gpt-5.4*" + noPro,
			When: "stop", Param: "stop", Code: parameter,
			Message: noParameter, Example: Set{"stop": []string{"a"}}, Source: "huggingface/smolagents#1662, #1868, #1893, crewAIInc/crewAI#5144",
		},
		{
			ID: "O8", Services: atOpenAI, Formats: "chat completions", When: "stop>4 stop~^\\[", Param: "stop", Code: "array_above_max_length",
			Message: longArray, Example: Set{"stop": []string{"a", "b", "c", "d", "e"}}, Source: "continuedev/continue#2461, QwenLM/Qwen-Agent#228",
		},
		{
			ID: "O9", Services: atOpenAI, Formats: "chat responses", When: "tools>128", Param: "tools", Code: "array_above_max_length",
			Message: longArray, Example: Set{"tools": functions(129)}, Source: "0x4m4/hexstrike-ai#65",
		},
		{
			ID: "O10", Services: atOpenAI, Formats: "chat responses", Models: parallelless, When: "parallel_tool_calls", Param: "parallel_tool_calls", Code: parameter,
			Message: noParameter, Example: Set{"parallel_tool_calls": true}, Source: "evalstate/fast-agent#279, browser-use/web-ui#648, run-llama/llama_index#20865",
		},
		{
			ID: "O11", Services: atOpenAI, Formats: "chat", Models: withToolsStated, When: "tools effort !effort=none", Param: "effort",
			Message: noTools + "Please use /v1/responses instead.", Example: Set{"tools": functions(1), "effort": "low"}, Source: "pipecat-ai/pipecat#4043, Science-Discovery/Aether#1026",
		},
		{
			ID: "O12", Services: atOpenAI, Formats: "chat", Models: withTools, When: "tools !effort=none", Param: "effort",
			Message: noTools + "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
			Example: Set{"tools": functions(1)}, Source: "BerriAI/litellm#34569, GoogleChromeLabs/webmcp-tools#417, onyx-dot-app/onyx#15008",
		},
	},
	efforts("chat responses", "gpt-5.6* gpt-6-sol* gpt-6-luna* gpt-6.1-terra*", "none|low|medium|high|xhigh|max"),
	efforts("chat responses", "gpt-5.2 gpt-5.2-20* gpt-5.4* gpt-5.5*"+noPro, "none|low|medium|high|xhigh"),
	efforts("chat responses", "gpt-5.1*"+noPro, "none|low|medium|high"),
	efforts("chat responses", "gpt-5 gpt-5-20* gpt-5-mini* gpt-5-nano*", "minimal|low|medium|high"),
	efforts("chat responses", "gpt-6-astra* gpt-6.1-sol* gpt-6.2-*", "low|medium|high|xhigh|max"),
	efforts("responses", "gpt-5.3-codex*", "low|medium|high|xhigh"),
	efforts("responses", "gpt-5.4-pro* gpt-5.5-pro*", "medium|high|xhigh"),
	efforts("chat responses", "o1* o3* o4-mini*", "low|medium|high"),
	efforts("chat responses", "chat-latest", "medium"),
	[]Rule{
		{
			ID: "O13", Services: atOpenAI, Formats: "chat", Models: "gpt-6-astra*", When: "effort=max", Param: "effort", Code: wrongValue,
			Example: Set{"effort": "max"}, Source: "BerriAI/litellm-docs#1173",
		},
		{
			ID: "O14", Services: atOpenAI, Formats: "chat", Models: withoutEffort, When: "effort",
			Message: "Unrecognized request argument supplied: reasoning_effort", Example: Set{"effort": "low"}, Source: "generative-computing/mellea#270, AAswordman/Operit#1048",
		},
		{
			ID: "O14", Services: atOpenAI, Formats: "responses", Models: withoutEffort, When: "effort", Param: "effort", Code: parameter,
			Message: noParameter, Example: Set{"effort": "low"}, Source: "BoundaryML/baml#2708",
		},
		{
			ID: "O15", Services: atOpenAI, Formats: "chat", Models: onlyResponses, Status: 404, Param: "model",
			Message: "This model is only supported in v1/responses and not in v1/chat/completions.", Source: "alvinunreal/tmuxai#82, arbs-io/vscode-openai#358",
		},
	},
	longest("gpt-4o*", "16384"), longest("gpt-4.1*", "32768"),
	longest("o1* o3* o4-mini*", "100000"), longest("gpt-5* gpt-6*", "128000"),
	[]Rule{
		{
			ID: "O17", Services: atOpenAI, Formats: "responses", When: "bound<16", Param: "bound", Code: "integer_below_min_value",
			Message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {limit}, but got {value} instead.",
			Example: Set{"bound": 1}, Source: "earendil-works/pi#6265, vectorize-io/hindsight#58",
		},
		{
			ID: "O17", Services: atOpenAI, Formats: "chat", When: "bound<1", Param: "max_tokens", Code: "integer_below_min_value",
			Message: "Invalid 'max_tokens': integer below minimum value. Expected a value >= {limit}, but got {value} instead.",
			Example: Set{"bound": -15335}, Source: "OpenBMB/ChatDev#446",
		},
		{
			ID: "O18", Services: atOpenAI, Formats: "chat", Models: "gpt-4 gpt-4-0613", When: totalTokens + ">8192", Param: "messages", Code: "context_length_exceeded",
			Message: longContext, Example: Set{"bound": 8192}, Source: "ChatGPTNextWeb/NextChat#3195",
		},
		{
			ID: "O19", Services: atOpenAI, Formats: "completions", Models: "gpt-* o1* o3* o4* !*-instruct*", Status: 404, Param: "model",
			Message: "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?",
			Source:  "RomanHotsiy/commitgpt#43, tmc/langchaingo#201",
		},
	})

// without returns the rules of models that take no sampling fields beside what when says. It
// differs by report whether a temperature is called a parameter or a value.
func without(id, models, when string, example Set, source string) (rules []Rule) {
	for _, member := range []string{"temperature", "top_p", "logprobs"} {
		for _, format := range []string{"chat", "responses"} {
			value := any(0.5)
			if member == "logprobs" {
				if value = true; format == "responses" {
					continue // the format has no such member
				}
			}
			rules = append(rules, Rule{
				ID: id, Services: atOpenAI, Formats: format, Models: models, When: member + " " + when, Param: member, Code: parameter,
				Message: noParameter, Example: with(example, member, value), Source: source,
			})
		}
	}
	return rules
}

// unweighed returns the rule of the models that reason for a member that weighs tokens.
func unweighed(member string, value any) []Rule {
	return []Rule{{
		ID: "O21", Services: atOpenAI, Formats: "chat", Models: reasoners, When: member, Param: member, Code: parameter,
		Message: noParameter, Example: Set{member: value}, Source: "nextai-translator/nextai-translator#1781, stanford-crfm/helm#3617",
	}}
}

// efforts returns the rule of models that take these words, which | separates.
func efforts(formats, models, words string) []Rule {
	return []Rule{{
		ID: "O13", Services: atOpenAI, Formats: formats, Models: models, When: "effort !effort=" + words, Param: "effort", Code: wrongValue,
		Message: noEffort, Example: Set{"effort": "little"}, Source: "experientiallabs/experiential#764",
	}}
}

// longest returns the rule of models whose longest answer has a number of tokens.
func longest(models, tokens string) []Rule {
	return []Rule{{
		ID: "O16", Services: atOpenAI, Formats: "chat", Models: models, When: "bound>" + tokens, Param: "max_tokens", Code: "invalid_value",
		Message: tooLarge, Example: Set{"bound": 1000000}, Source: "Bobsilvio/ha-claude#42, tailcallhq/forgecode#1185",
	}}
}
