package providers

import (
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/claude"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/mistral"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Lists of formats that services speak, the preferred one for translations first.
var (
	onlyMessages    = []translate.Format{translate.Messages}
	onlyCompletions = []translate.Format{translate.Completions}
	onlyChat        = []translate.Format{translate.Chat}
	chatResponses   = []translate.Format{translate.Chat, translate.Responses}
	chatCompletions = []translate.Format{translate.Chat, translate.Completions}
	responsesFirst  = []translate.Format{translate.Responses, translate.Chat, translate.Completions}
	responsesChat   = []translate.Format{translate.Responses, translate.Chat}
	hubFormats      = []translate.Format{translate.Chat, translate.Messages, translate.Responses}
	noResponses     = []translate.Format{translate.Chat, translate.Completions, translate.Messages}
	allFormats      = []translate.Format{translate.Chat, translate.Completions, translate.Messages, translate.Responses}
)

// slowly are the bounds of servers that may run on a CPU, where processing a long prompt
// takes minutes. Some of these servers send no header before that.
var slowly = aigateway.AnswerBounds{
	ResponseHeaderTimeout: caddy.Duration(30 * time.Minute),
	FirstEventTimeout:     caddy.Duration(30 * time.Minute),
}

// openAIFormats are those of OpenAI's models: the completions endpoint refuses the models of
// conversations, and the other endpoints refuse its models.
var openAIFormats = []aigateway.ModelFormats{
	{Pattern: "*-instruct*", Formats: onlyCompletions},
	{Pattern: "*davinci-002*", Formats: onlyCompletions}, // the names of those that were tuned contain it
	{Pattern: "*babbage-002*", Formats: onlyCompletions},
	{Pattern: "*", Formats: []translate.Format{translate.Responses, translate.Chat}},
}

// replaying returns the traits of models that take earlier reasoning, at services that refuse it for others.
func replaying(replay string, patterns ...aigateway.Pattern) (all []aigateway.ModelTraits) {
	for _, pattern := range patterns {
		all = append(all, aigateway.ModelTraits{Pattern: pattern, Traits: map[string]string{"reasoning_replay": replay}})
	}
	return all
}

// presets are the presets of hosted and self-hosted services. The comments state documented
// differences from the format. All services but one document a list of their models.
var presets = []Preset{
	{"anthropic", aigateway.Defaults{
		BaseURL: "https://api.anthropic.com", Formats: onlyMessages,
		Header: "X-Api-Key", KeyRequired: true, ListsModels: true,
		Traits:      map[string]string{"thinking_style": "both"}, // of models that are not in the table
		ModelTraits: claude.Traits(""),
	}},
	// Recent models refuse tools together with reasoning in the chat format, which also
	// has no encrypted reasoning to send back.
	{"openai", aigateway.Defaults{
		BaseURL: "https://api.openai.com/v1", Formats: responsesFirst, KeyRequired: true, ListsModels: true,
		ModelFormats: openAIFormats,
		Traits: map[string]string{
			"max_tokens_field": "max_completion_tokens", // max_tokens is deprecated, and reasoning models refuse it
			"user_field":       "safety_identifier",     // replaces user
			"files":            "true",                  // PDF documents as file parts
			"max_stops":        "4",
			"tool_call_ids":    "short",
			"extensions":       "service_tier prompt_cache_key", // the key for all models, unlike the other options of the cache
			// Models without reasoning refuse the demand for it; see module/gateway/routing/failover/renegotiation.
			"responses_reasoning": "encrypted",
		},
		Listing: aigateway.Listing{Base: tuned},
	}},
	// The name of the model and the kind of the answer are in the path.
	{"gemini", aigateway.Defaults{
		BaseURL: "https://generativelanguage.googleapis.com", Formats: []translate.Format{translate.Gemini},
		Header: "X-Goog-Api-Key", KeyRequired: true, ListsModels: true, Listing: aigateway.Listing{Plain: resource},
	}},
	// The configuration sets all differences from the format.
	{"openai_compatible", aigateway.Defaults{Formats: chatCompletions, ModelTraits: mistral.Traits}},

	// The service refuses a request without the reasoning of a turn that called tools. It
	// knows only these words for the effort. Its messages endpoint has another base URL,
	// and its completions endpoint is a beta.
	{"deepseek", aigateway.Defaults{
		BaseURL: "https://api.deepseek.com", Formats: onlyChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"attribution":      "drop", // the service caches by prefix
			"reasoning_effort": "low medium high xhigh max",
			"reasoning_replay": "reasoning_content",
		},
	}},
	// max_tokens is deprecated, and n above 1 is refused. The valid efforts depend on the
	// model. The responses format is a beta. Messages with reasoning_content are refused, and
	// for models that do not reason also those with reasoning.
	{"groq", aigateway.Defaults{
		BaseURL: "https://api.groq.com/openai/v1", Formats: chatResponses, KeyRequired: true, ListsModels: true,
		Traits:      map[string]string{"max_tokens_field": "max_completion_tokens", "max_stops": "4", "native_n": "false", "reasoning_replay": "drop"},
		ModelTraits: replaying("reasoning", "*gpt-oss*", "*qwen3*"),
	}},
	// The service refuses unknown fields, such as user and stream_options, ids of calls of another
	// length, and the user directly behind the result of a call. A stream always has usage. The
	// reasoning of models that reason is a part of the content.
	{"mistral", aigateway.Defaults{
		BaseURL: "https://api.mistral.ai/v1", Formats: onlyChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{"include_usage": "false", "user_field": "none", "tool_call_ids": "nine", "after_results": "assistant", "reasoning_replay": "drop"},
		ModelTraits: replaying("thinking", "mistral-large-4*", "mistral-large-latest", "mistral-medium-3*", "mistral-medium-2604", "mistral-medium-latest",
			"mistral-small-2603", "mistral-small-latest", "magistral*"),
	}},
	// The responses format is a beta that may change.
	{"openrouter", aigateway.Defaults{
		BaseURL: "https://openrouter.ai/api/v1", Formats: hubFormats, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"extensions":       "top_k min_p top_a repetition_penalty",
			"files":            "true",      // PDF documents, for every model
			"prefill":          "native",    // a last assistant message is continued
			"reasoning_replay": "reasoning", // requests accept the field of the answers
			"tool_call_ids":    "short",     // for the models of OpenAI
			"stated_cost":      "usd",       // in credits, each of which is a dollar
			"video":            "true",      // unless the table of models has the model as one of texts alone
		},
		ModelTraits: mistral.Traits,
		Listing:     aigateway.Listing{Base: routed, Priced: pricedAs},
	}},
	{"together", aigateway.Defaults{
		BaseURL: "https://api.together.xyz/v1", Formats: chatCompletions, KeyRequired: true, ListsModels: true,
		Traits:      map[string]string{"extensions": "top_k min_p repetition_penalty", "reasoning_replay": "reasoning"},
		ModelTraits: mistral.Traits,
	}},
	// max_tokens is deprecated. Its messages endpoint was switched off, and the chat
	// format is deprecated: only the responses format has the reasoning of all models.
	{"xai", aigateway.Defaults{
		BaseURL: "https://api.x.ai/v1", Formats: responsesFirst, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_tokens_field": "max_completion_tokens", "responses_reasoning": "encrypted",
			"stated_cost": "usd", // https://docs.x.ai/developers/cost-tracking
		},
	}},

	// max_tokens is deprecated. The models have one answer for a request, and a turn that called
	// tools is refused without its reasoning. The service has a dialect of JSON Schema.
	{"moonshot", aigateway.Defaults{
		BaseURL: "https://api.moonshot.ai/v1", Formats: chatResponses, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_tokens_field":  "max_completion_tokens",
			"user_field":        "safety_identifier",
			"max_stops":         "5",
			"native_n":          "false",
			"reasoning_replay":  "reasoning_content",
			"schema_references": "alone",
			"tool_names":        "letter",
			"attribution":       "drop", // the service caches by prefix
			"extensions":        "prompt_cache_key",
		},
	}},
	// The responses endpoint has some of the models, and depended on another address.
	{"dashscope", aigateway.Defaults{
		BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Formats: onlyChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"reasoning_replay": "reasoning_content",
			"attribution":      "drop",
			"extensions":       "top_k repetition_penalty enable_thinking thinking_budget preserve_thinking",
			"video":            "true",
		},
	}},
	// One stop is accepted, no choice that forces a call, and JSON without a schema.
	{"zai", aigateway.Defaults{
		BaseURL: "https://api.z.ai/api/paas/v4", Formats: onlyChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_stops":        "1",
			"tool_choice":      "auto",
			"json_schema":      "object",
			"native_n":         "false",
			"user_field":       "none",
			"reasoning_replay": "reasoning_content",
			"attribution":      "drop",
		},
	}},
	// max_tokens is deprecated, n above 1 and a second system message are refused. In chat answers of
	// most models, the reasoning is a part of the text, between <think> and </think>: translated
	// requests use the responses format, which has it apart, and takes it back as a summary.
	{"minimax", aigateway.Defaults{
		BaseURL: "https://api.minimax.io/v1", Formats: responsesChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_tokens_field":    "max_completion_tokens",
			"mid_system":          "hoist",
			"native_n":            "false",
			"user_field":          "none",
			"attribution":         "drop",
			"extensions":          "reasoning_split",
			"responses_reasoning": "summary",
		},
	}},
	{"siliconflow", aigateway.Defaults{
		BaseURL: "https://api.siliconflow.com/v1", Formats: onlyChat, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_stops":        "4",
			"reasoning_replay": "reasoning_content",
			"attribution":      "drop",
			"extensions":       "top_k min_p enable_thinking thinking_budget",
			"video":            "true",
		},
	}},
	{"fireworks", aigateway.Defaults{
		BaseURL: "https://api.fireworks.ai/inference/v1", Formats: allFormats, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_stops":        "4",
			"reasoning_replay": "reasoning_content",
			"attribution":      "drop",
			"extensions":       "top_k min_p repetition_penalty prompt_cache_key",
		},
		ModelTraits: mistral.Traits,
	}},
	// The usage states the cost. Models of Google have reasoning tokens there that their completion
	// tokens do not contain.
	{"deepinfra", aigateway.Defaults{
		BaseURL: "https://api.deepinfra.com/v1/openai", Formats: chatCompletions, KeyRequired: true, ListsModels: true,
		Traits:      map[string]string{"extensions": "top_k min_p repetition_penalty", "stated_cost": "usd", "reasoning_replay": "reasoning_content"},
		ModelTraits: mistral.Traits,
	}},
	// The reasoning of an earlier turn has another name than elsewhere: the service refuses
	// messages with members that it does not know.
	{"cerebras", aigateway.Defaults{
		BaseURL: "https://api.cerebras.ai/v1", Formats: chatCompletions, KeyRequired: true, ListsModels: true,
		Traits: map[string]string{
			"max_tokens_field": "max_completion_tokens", "max_stops": "4", "native_n": "false", "reasoning_replay": "reasoning",
			"penalties": "false",
		},
	}},
	// The hosted models of the catalog, which vLLM or SGLang run. Those that think refuse a turn that
	// called tools without its reasoning.
	{"nvidia", aigateway.Defaults{
		BaseURL: "https://integrate.api.nvidia.com/v1", Formats: chatCompletions, KeyRequired: true, ListsModels: true,
		Traits:      map[string]string{"reasoning_replay": "reasoning_content"},
		ModelTraits: mistral.Traits,
	}},
	// The API that is compatible with OpenAI's has chat and embeddings; rerank and the list of
	// models are elsewhere.
	{"cohere", aigateway.Defaults{
		BaseURL: "https://api.cohere.ai/compatibility/v1", Formats: onlyChat, KeyRequired: true,
		Traits: map[string]string{"max_stops": "5", "native_n": "false", "user_field": "none"},
	}},

	// The self-hosted servers render conversations by the template of the model. The
	// templates of Qwen and others raise an exception for a system message that is not the
	// first (ggml-org/llama.cpp#27367, vllm-project/vllm#41114, ollama/ollama#17774). As a
	// turn of the user at the same place, it does not change the cached prefix. Joined with
	// its neighbours, it also suits templates that require alternating roles.
	// The events of llama.cpp's responses endpoint have neither indexes nor numbers, so that
	// official SDKs fail; the endpoint also calls truncated answers complete, and ignores
	// schemas.
	{"llamacpp", aigateway.Defaults{
		BaseURL: "http://localhost:8080/v1", Formats: noResponses, ListsModels: true, AnswerBounds: slowly,
		Traits: map[string]string{
			"messages_schema":  "false",
			"extensions":       "top_k min_p repeat_penalty grammar json_schema cache_prompt",
			"mid_system":       "user",
			"alternation":      "true",
			"attribution":      "drop",   // these servers cache by prefix
			"native_n":         "false",  // some versions give only one answer
			"prefill":          "native", // unless started with --no-prefill-assistant
			"reasoning_replay": "reasoning_content",
			"usage_details":    "fill", // the server leaves out details that it does not count
			"trace_upstream":   "true",
		},
		ModelTraits: mistral.Traits,
	}},
	// The server ignores user. It reads max_tokens, not max_completion_tokens, and takes
	// several texts of one content for separate messages; the defaults of the traits fit
	// both.
	{"ollama", aigateway.Defaults{
		BaseURL: "http://localhost:11434/v1", Formats: allFormats, ListsModels: true, AnswerBounds: slowly,
		Protocol: aigateway.Protocol{LoadedModels: "/api/ps"},
		Traits: map[string]string{
			"messages_schema":  "false",
			"image_url":        "base64", // addresses are refused
			"mid_system":       "user",
			"alternation":      "true",
			"attribution":      "drop",
			"native_n":         "false", // the server ignores n
			"reasoning_effort": "none",  // every model accepts none; only thinking models accept others
			"reasoning_replay": "reasoning",
			"usage_details":    "fill", // answers have no details
			"user_field":       "none",
			"trace_upstream":   "true",
		},
		ModelTraits: mistral.Traits,
	}},
	// chat_template_kwargs is not an extension here, because servers with a tokenizer of
	// Mistral refuse it. Earlier reasoning is read by the name that it has in answers, which was
	// reasoning_content before 2026.
	{"vllm", aigateway.Defaults{
		BaseURL: "http://localhost:8000/v1", Formats: allFormats, ListsModels: true, AnswerBounds: slowly,
		Traits: map[string]string{
			"extensions": "top_k min_p repetition_penalty length_penalty min_tokens stop_token_ids" +
				" include_stop_str_in_output ignore_eos structured_outputs priority",
			"mid_system":       "user",
			"alternation":      "true",
			"attribution":      "drop",
			"prefill":          "vllm", // continue_final_message with add_generation_prompt
			"reasoning_replay": "reasoning",
			"usage_details":    "fill", // completions have no details
			"trace_upstream":   "true",
		},
		ModelTraits: mistral.Traits,
	}},
}
