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
		"500: System message must be at the beginning.":                                                                        "mid_system user",
		"500: Conversation roles must alternate user/assistant/user/assistant/...":                                             "alternation on",
		"400: `temperature` and `top_p` cannot both be specified for this model. Please use only one.":                         "sampling one",
		"400: Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.": "sampling none",
		"502: the upstream could not be reached (upstream_unreachable)":                                                        "base_url <the address of the provider>",
		"502: the upstream did not accept the gateway's credential":                                                            "api_key <a valid key of the provider>",
		"the upstream closed the stream before completing the answer (upstream_stream_truncated)":                              "stream_end finish",
		"400: messages: something else": "",
	} {
		assert.Equal(t, line, adviceFor(reason, false), reason)
	}
	assert.Empty(t, adviceFor("400: stream_options", true), "a trait changes no request of the provider's own format")
}
