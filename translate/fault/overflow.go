package fault

import "strings"

// A prompt that is longer than the context of the model is an overflow. Clients shorten
// the conversation and continue, but each recognizes only the words of its own vendor.

// CodeOverflow is the code of faults for prompts that are too long. Clients of
// OpenAI's formats know it.
const CodeOverflow = "context_length_exceeded"

// overflowWords are the types and codes of providers that mean an overflow.
var overflowWords = map[string]bool{
	CodeOverflow:                    true, // OpenAI, Groq, Cerebras, Fireworks
	"exceed_context_size_error":     true, // llama.cpp
	"model_context_window_exceeded": true, // Z.ai
}

// overflowSentences are parts of the messages of providers that mean an overflow,
// in lower case.
var overflowSentences = []string{
	"prompt is too long",                    // Anthropic: prompt is too long: 213462 tokens > 200000 maximum
	"exceed context limit",                  // Anthropic: input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000
	"maximum context length",                // OpenAI, DeepSeek, vLLM, OpenRouter, Together: This model's maximum context length is 8192 tokens; Mistral: too large for model with 32768 maximum context length
	"exceeds the context window",            // OpenAI: Your input exceeds the context window of this model
	"exceed the configured limit of",        // OpenAI: Input tokens exceed the configured limit of 272000 tokens
	"longer than the maximum model length",  // vLLM: The decoder prompt (length 8825) is longer than the maximum model length of 8192
	"longer than the model's context",       // SGLang: The input (516368 tokens) is longer than the model's context length (262144 tokens)
	"exceeds the maximum allowed length",    // SGLang: Input length (265330 tokens) exceeds the maximum allowed length (262144 tokens)
	"exceeds the available context size",    // llama.cpp: the request exceeds the available context size, try increasing it
	"context size has been exceeded",        // llama.cpp
	"prompt too long",                       // Ollama: prompt too long; exceeded max context length by 4021 tokens; KoboldCpp
	"exceeds the context length",            // Ollama: the input length exceeds the context length
	"greater than the context length",       // LM Studio: The number of tokens to keep from the initial prompt is greater than the context length
	"loaded with context length of only",    // LM Studio: Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens
	"exceeds the maximum number of tokens",  // Gemini: The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)
	"but model only supports up to",         // Vertex: the input token count is 1196265 but model only supports up to 1048576
	"maximum prompt length is",              // xAI: This model's maximum prompt length is 131072 but the request contains 537812 tokens
	"reduce the length of the messages",     // Groq, Cerebras: Please reduce the length of the messages or completion
	"input is too long for requested model", // Bedrock
	"too many input tokens",                 // Bedrock: Too many input tokens. Max input tokens: 8192, request input token count: 20000
	"exceeded model token limit",            // Moonshot: Your request exceeded model token limit: 262144
	"input token length too long",           // Moonshot
	"context window exceeds limit",          // MiniMax
	"prompt exceeds max length",             // Z.ai
	"prompt 超长",                             // Zhipu
	"range of input length should be",       // Model Studio: Range of input length should be [1, 129024]
	"+ `max_new_tokens` must be",            // Text Generation Inference: `inputs` tokens + `max_new_tokens` must be <= 8193
	"`inputs` must have less than",          // Text Generation Inference: `inputs` must have less than 32767 tokens. Given: 45000
	"too many tokens: size limit exceeded",  // Cohere
	"tokens in the prompt cannot exceed",    // Cohere: total number of tokens in the prompt cannot exceed 128000 - received 140000
	"must be less than max_seq_len",         // SiliconFlow: length of prompt_tokens (45000) must be less than max_seq_len (32768)
	"is greater than max_seq_len",           // TabbyAPI: Prompt length 45000 is greater than max_seq_len 32768
	"context length exceeded",               // MLX, and servers in front of others
	"context window exceeded",               // LiteLLM
	"exceed context window of",              // llama-cpp-python: Requested tokens (45000) exceed context window of 40960
	"exceeds maximum input length",          // DeepInfra: Requested input length 34602 exceeds maximum input length 32767
	"(prompt and prediction) cannot exceed", // Cohere: total number of tokens (prompt and prediction) cannot exceed 4081
	"or equal to max_seq_len",               // SiliconFlow: max_total_tokens (45000) must be less than or equal to max_seq_len (40960)
}

// overflows reports whether an error of the row means that the prompt was too long, unless
// excess shows that the prompt alone fits.
func (d detail) overflows(row statusRow) bool {
	return row.maySize() && (overflowWords[d.code] || overflowWords[d.kind] || containsAny(d.message, overflowSentences...))
}

// maySize reports whether an error of the row may be about the size of the request. Rows with
// a code blame something else: rate limits have "too many tokens", too.
func (row statusRow) maySize() bool { return row.code == "" || row.kind == TooLarge }

// containsAny reports whether a message has one of the parts, which are in lower case.
func containsAny(message string, parts ...string) bool {
	message = strings.ToLower(message)
	for _, part := range parts {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}
