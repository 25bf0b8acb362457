package service

// moonshot are the refusals of Moonshot.
var moonshot = []Rule{
	{
		ID: "K1", Services: Moonshot, Formats: "chat", Models: "kimi-*", When: "temperature !temperature=1",
		Message: "invalid temperature: only 1 is allowed for this model", Example: Set{"temperature": 0.7},
		Source: "Devin-AXIS/AINO#223, tinyhumansai/openhuman#2082, HKUDS/nanobot#202",
	},
	{ID: "K2", Services: Moonshot, Formats: "chat", Models: "kimi-*", When: "top_p !top_p=0.95", Example: Set{"top_p": 0.9}, Source: "java.agentscope.io: kimi; docs.apiyi.com: kimi-k3-1"},
	{ID: "K2", Services: Moonshot, Formats: "chat", Models: "kimi-*", When: "presence_penalty", Example: Set{"presence_penalty": 0.5}, Source: "java.agentscope.io: kimi"},
	{ID: "K2", Services: Moonshot, Formats: "chat", Models: "kimi-*", When: "frequency_penalty", Example: Set{"frequency_penalty": 0.5}, Source: "java.agentscope.io: kimi"},
	{
		ID: "K3", Services: Moonshot, Formats: "chat", Models: "kimi-*", When: "messages.*@unreasoned !thinking.type=disabled",
		Message: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 0",
		Example: Set{"messages": []any{Set{"role": "assistant", "tool_calls": []any{Set{"id": "a"}}}, turn("tool", "b")}},
		Source:  "continuedev/continue#11600, OnesoftQwQ/opencode-go-copilot#1",
	},
	{
		ID: "K4", Services: Moonshot, Formats: "chat", Models: "kimi-k2.*", When: "tool_choice=required !thinking.type=disabled",
		Message: "tool_choice specified is incompatible with thinking enabled", Example: Set{"tool_choice": "required"}, Source: "can1357/oh-my-pi#1077",
	},
	{
		ID: "K4", Services: Moonshot, Formats: "chat", Models: "kimi-k2.*", When: "tool_choice.function !thinking.type=disabled",
		Message: "tool_choice specified is incompatible with thinking enabled", Example: Set{"tool_choice.function.name": "f"}, Source: "can1357/oh-my-pi#1077",
	},
	{ID: "K5", Services: Moonshot, Formats: "chat", Models: "kimi-k3*", When: "thinking", Example: Set{"thinking.type": "enabled"}, Source: "mnfst/modelparams.dev#168"},
	{ID: "K6", Services: Moonshot, Formats: "chat", Models: "kimi-k3*", When: "effort !effort=low|high|max", Example: Set{"effort": "medium"}, Source: "java.agentscope.io: kimi"},
	{ID: "K7", Services: Moonshot, Formats: "chat", When: "stop>5 stop~^\\[", Example: Set{"stop": []string{"a", "b", "c", "d", "e", "f"}}, Source: "mnfst/modelparams.dev#168"},
}

// dashScope are the refusals of Alibaba's Model Studio.
var dashScope = []Rule{
	{
		ID: "W1", Services: DashScope, Models: "qwen3.5-* qwen3.6-* qwen3.7-* qwen3.8-max", When: "tool_choice=required !enable_thinking=false", Code: "invalid_parameter_error",
		Message: forcedWhileThinking, Example: Set{"tool_choice": "required"}, Source: "cloudwego/eino#994, can1357/oh-my-pi#886",
	},
	{
		ID: "W1", Services: DashScope, Models: "qwen3.5-* qwen3.6-* qwen3.7-* qwen3.8-max", When: "tool_choice.function !enable_thinking=false", Code: "invalid_parameter_error",
		Message: forcedWhileThinking, Example: Set{"tool_choice.function.name": "f"}, Source: "cloudwego/eino#994",
	},
	{
		ID: "W2", Services: DashScope, Models: "qwen3-*", When: "response_format.type=json_object enable_thinking=true", Code: "invalid_parameter_error",
		Message: "Json mode response is not supported when enable_thinking is true", Example: Set{"response_format.type": "json_object", "enable_thinking": true}, Source: "presenton/presenton#184",
	},
}

const forcedWhileThinking = "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode"

// zai are the refusals of Z.ai.
var zai = []Rule{
	{ID: "Z1", Services: ZAI, When: "tool_choice !tool_choice=auto", Message: "Tool choice must be auto", Example: Set{"tool_choice": "required"}, Source: "vectorize-io/hindsight#4246"},
	{ID: "Z2", Services: ZAI, When: "stop>1 stop~^\\[", Code: "1210", Message: invalidParameter, Example: Set{"stop": []string{"a", "b"}}, Source: "docs.bigmodel.cn; cline/cline#9939 (sentence)"},
	{ID: "Z3", Services: ZAI, When: "response_format.type=json_schema", Code: "1210", Message: invalidParameter, Example: Set{"response_format.type": "json_schema"}, Source: "docs.bigmodel.cn; cline/cline#9939 (sentence)"},
	{
		ID: "Z4", Services: ZAI, When: "messages !messages.*.role=user", Code: "1214", Message: "The messages parameter is illegal. Please check the documentation.",
		Example: Set{"messages": []any{turn("system", "a")}}, Source: "anomalyco/opencode#2557, continuedev/continue#13261",
	},
}

const invalidParameter = "Invalid API parameter, please check the documentation."

// miniMax are the refusals of MiniMax.
var miniMax = []Rule{
	{
		ID: "N1", Services: MiniMax, Formats: "chat", When: "messages@instructed", Message: "invalid params, invalid chat setting (2013)",
		Example: Set{"messages": []any{turn("system", "a"), turn("system", "b"), turn("user", "c")}},
		Source:  "MiniMax-AI/MiniMax-M2#51, can1357/oh-my-pi#954, netease-youdao/LobsterAI#104",
	},
	{ID: "N2", Services: MiniMax, Formats: "chat", When: "n>1", Example: Set{"n": 2}, Source: "platform.minimax.io/docs/api-reference/text-openai-api"},
}

// nvidia are the refusals of NVIDIA.
var nvidia = []Rule{{
	ID: "R3", Services: NVIDIA, Formats: "chat", When: "messages.*@unreasoned",
	Example: Set{"messages": []any{Set{"role": "assistant", "tool_calls": []any{Set{"id": "a"}}}, turn("tool", "b")}}, Source: "NousResearch/hermes-agent#92359",
}}

// siliconFlow are the refusals of SiliconFlow.
var siliconFlow = []Rule{
	{ID: "L1", Services: SiliconFlow, When: "stop>4 stop~^\\[", Example: Set{"stop": []string{"a", "b", "c", "d", "e"}}, Source: "docs.siliconflow.cn/docs/api/chat-completions-post"},
}

// cerebras are the refusals of Cerebras.
var cerebras = []Rule{
	{
		ID: "R1", Services: Cerebras, Formats: "chat", When: "messages.*.reasoning_content", Code: "wrong_api_format",
		Message: "messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported",
		Example: Set{"messages": []any{turn("user", "a"), Set{"role": "assistant", "content": "b", "reasoning_content": "c"}, turn("user", "d")}},
		Source:  "egoist/chatwise-releases#1442, vercel/ai#15416",
	},
	{ID: "R2", Services: Cerebras, When: "presence_penalty", Code: "wrong_api_format", Example: Set{"presence_penalty": 0.5}, Source: "hexdocs.pm/req_llm/cerebras.html"},
	{ID: "R2", Services: Cerebras, When: "frequency_penalty", Code: "wrong_api_format", Example: Set{"frequency_penalty": 0.5}, Source: "hexdocs.pm/req_llm/cerebras.html"},
}
