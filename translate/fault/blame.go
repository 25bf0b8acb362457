package fault

import (
	"slices"
	"strconv"
	"strings"
)

// What a provider blames a request for is logged in the words of this file, since the
// message of the provider may quote the request.

// reasons are parts of messages of providers, in lower case, and the reason that they
// imply. The first row that matches counts.
var reasons = []struct {
	reason string
	parts  []string
}{
	{"tools are not supported", []string{
		"does not support tools",                // Ollama
		"tool choice requires",                  // vLLM without a parser of calls
		"tool use is not supported",             // Groq
		"endpoints found that support tool use", // OpenRouter
	}},
	{"images are not supported", []string{
		"missing data required for image input", // Ollama
		"does not support image",                // many
		"support image input",                   // llama.cpp, OpenRouter
		"image input is not supported",          // llama.cpp
		"is not a multimodal model",             // vLLM
	}},
	{"audio is not supported", []string{"audio input is not supported"}},                              // llama.cpp
	{"thinking is not supported", []string{"does not support thinking"}},                              // Ollama
	{"a system message is not at the beginning", []string{"system message must be at the beginning"}}, // templates of Qwen
	{"roles do not alternate", []string{"roles must alternate"}},                                      // templates of Llama, Mistral, Gemma
	{"a field is missing", []string{"field required", "missing required"}},                            // Anthropic, FastAPI; OpenAI
	{"max_tokens is too large", []string{"max_tokens is too large", "valid range of max_tokens"}},     // OpenAI; DeepSeek
	{"a value is not supported", []string{"unsupported value"}},                                       // OpenAI
	{"a field is unknown or not supported", []string{
		"unsupported parameter", "unrecognized request argument", // OpenAI
		"extra inputs are not permitted", // Anthropic, FastAPI
		"unknown field",                  // Go, Rust
	}},
}

// blamed are the kinds that blame the request, with the reason if the message implies
// none.
var blamed = map[Kind]string{
	Invalid:  "the request is not valid",
	NotFound: "the model or the endpoint is not known",
	Conflict: "the request conflicts with another one",
	TooLarge: "the request is too large",
}

// reason returns what the provider blames the request for, "" if it does not blame the
// request. Servers answer 500 if the template of a conversation fails, and llama.cpp for
// images without a model for them, so that there the message alone shows it.
func (d detail) reason(row statusRow) string {
	general := blamed[row.kind]
	switch {
	case general == "" && row.kind != Internal:
		return ""
	case row.code == CodeOverflow:
		return "the input is longer than the context"
	}
	for _, known := range reasons {
		if containsAny(d.message, known.parts...) {
			return known.reason
		}
	}
	if d.violatesPolicy(row) {
		return "a policy of the provider refuses the content"
	}
	return general
}

// path returns the path of the field that the provider blames, "" for none. It ends
// before the first step that is no name of a format, since that may be a text of the
// client.
func (d detail) path() string {
	path := d.param
	if path == "" {
		path, _, _ = strings.Cut(d.message, ": ")
	}
	steps := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	own := slices.IndexFunc(steps, func(step string) bool { return !isStep(step) })
	if own >= 0 {
		steps = steps[:own]
	}
	return strings.Join(steps[:min(len(steps), maxSteps)], ".")
}

// maxSteps bounds the paths that are logged.
const maxSteps = 8

// isStep reports whether a step of a path is an index or a name of a format.
func isStep(step string) bool {
	if index, err := strconv.Atoi(step); err == nil {
		return index >= 0 && index < maxIndex
	}
	return slices.Contains(stepNames, step)
}

// maxIndex bounds the indices that are logged.
const maxIndex = 1_000_000

// stepNames are the names of members in paths that are logged.
var stepNames = strings.Fields(`
	body model messages system prompt max_tokens max_completion_tokens temperature top_p top_k n stop stop_sequences
	stream stream_options tools tool_choice parallel_tool_calls functions function_call response_format reasoning_effort
	thinking budget_tokens output_config effort metadata user_id user safety_identifier service_tier cache_control
	logprobs top_logprobs logit_bias presence_penalty frequency_penalty seed suffix echo best_of verbosity prediction
	modalities audio web_search_options container mcp_servers context_management thread store
	role content type text source data media_type image image_url url file file_id document title citations
	tool_use tool_result tool_use_id tool_calls tool_call_id tool function name arguments input id is_error signature
	input_schema parameters description strict custom json_schema schema format`)
