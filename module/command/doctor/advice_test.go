package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The reasons are messages of real services.
func TestAdvice(t *testing.T) {
	for reason, line := range map[string]string{
		"400: Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.":      "max_tokens_field max_completion_tokens",
		"400: max_tokens is too large: 32000. This model supports at most 16384 completion tokens":                             "max_output_tokens 16384",
		"400: max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens; maximum value of 8192":           "max_output_tokens 8192",
		"400: `max_tokens` must be less than or equal to `8192`":                                                               "max_output_tokens 8192",
		"400: max_tokens: 64 > 32, which is the maximum allowed number of output tokens":                                       "max_output_tokens 32",
		"400: Unrecognized request argument supplied: stream_options":                                                          "include_usage off",
		"400: Unsupported value: 'messages[0].role' does not support 'system' with this model.":                                "system_role developer",
		"400: Developer instruction is not enabled for models/gemma-3-12b-it":                                                  "system_role user",
		"400: This model doesn't support system messages. Try again without a system message.":                                 "system_role user",
		"400: Error in applying chat template from request: System role not supported":                                         "system_role user",
		"500: System message must be at the beginning.":                                                                        "mid_system user",
		"500: Conversation roles must alternate user/assistant/user/assistant/...":                                             "alternation on",
		"400: `temperature` and `top_p` cannot both be specified for this model. Please use only one.":                         "sampling one",
		"400: Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.": "sampling none",
		"502: the upstream could not be reached (upstream_unreachable)":                                                        "base_url <the address of the provider>",
		"502: the upstream did not accept the gateway's credential":                                                            "api_key <a valid key of the provider>",
		"the upstream closed the stream before completing the answer (upstream_stream_truncated)":                              "stream_end finish",
		// Gitlawb/openclaude#35, langgenius/dify#10390, earendil-works/pi#3636
		"400: Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                 "max_output_tokens 8192",
		"400: The maximum tokens you requested exceeds the model limit of 4096. Try again with fewer":               "max_output_tokens 4096",
		"400: The `reasoning_content` in the thinking mode must be passed back to the API.":                         "reasoning_replay reasoning_content",
		"400: thinking is enabled but reasoning_content is missing in assistant tool call message":                  "reasoning_replay reasoning_content",
		"400: Tool call id was toolu_01ABC but must be a-z, A-Z, 0-9, with a length of 9.":                          "tool_call_ids nine",
		"400: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'root': …>": "schema_references alone",
		"400: encoding_format must be float":                                                                        "encoding_format off",
		"400: cache_control: Extra inputs are not permitted":                                                        "request_cache off",
		"400: Unexpected role 'user' after role 'tool'":                                                             "after_results assistant",
		"400: `temperature` is deprecated for this model.":                                                          "sampling none",
		"400: Unsupported parameter: 'top_p' is not supported with this model.":                                     "sampling none",
		"400: The model returned the following errors: `temperature` and `top_p` cannot both be specified.":         "sampling one",
		"400: messages: something else":                                                                             "",
	} {
		assert.Equal(t, line, adviceFor(reason, false), reason)
	}
	assert.Empty(t, adviceFor("400: stream_options", true), "a trait changes no request of the provider's own format")
}
