package fault_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// The sentences of providers that refuse the sum of prompt and answer, and what they state.
var sums = map[string]struct {
	message               string
	input, asked, context int64
}{
	"Anthropic":              {"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again", 188240, 21333, 200000},
	"a proxy":                {"max_tokens: 32768 > context_window: 200000 - input_tokens: 190000 = available_tokens: 10000", 190000, 32768, 200000},
	"vLLM":                   {"'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459).", 17459, 32000, 32768},
	"vLLM, older":            {"This model's maximum context length is 32768 tokens. However, you requested 45000 tokens (13000 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.", 13000, 32000, 32768},
	"vLLM, newer":            {"You passed 17459 input tokens and requested 32000 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 768 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=17459)", 17459, 32000, 32768},
	"vLLM, exact":            {"This model's maximum context length is 40960 tokens. However, you requested 32000 output tokens and your prompt contains 13000 input tokens, for a total of 45000 tokens.", 13000, 32000, 40960},
	"SGLang":                 {"Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 132528 tokens: 66992 tokens from the input messages and 65536 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.", 66992, 65536, 131072},
	"OpenAI, completions":    {"This model's maximum context length is 4097 tokens, however you requested 4771 tokens (771 in your prompt; 4000 for the completion). Please reduce your prompt; or completion length.", 771, 4000, 4097},
	"OpenAI, with functions": {"This model's maximum context length is 8192 tokens. However, you requested 8300 tokens (100 in the messages, 200 in the functions, and 8000 in the completion). Please reduce the length of the messages, functions, or completion.", 300, 8000, 8192},
	"OpenRouter":             {"This endpoint's maximum context length is 200000 tokens. However, you requested about 203000 tokens (150000 of text input, 40000 of tool input, 13000 in the output). Please reduce the length of either one", 190000, 13000, 200000},
	"TGI":                    {"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 900 `inputs` tokens and 8000 `max_new_tokens`", 900, 8000, 8193},
	"TensorRT-LLM":           {"The sum of prompt length (17459.0), query length (0) and max_tokens (32000) should not exceed max_num_tokens (32768)", 17459, 32000, 32768},
	"others, in order":       {"Prompt length 13000 + max_tokens 32000 is greater than max_seq_len 40960", 13000, 32000, 40960},
	"others, in words":       {"The number of tokens in the prompt (13000) plus max_tokens (32000) exceeds the model's maximum context length of 40960", 13000, 32000, 40960},
	"others, the other way":  {"Requested generation length 32000 + prompt 13000 tokens exceeds max sequence length 40960", 13000, 32000, 40960},
	"NVIDIA":                 {"This model's maximum context length is 8192 tokens. However, you requested 12000 tokens in total (4000 in the messages, 8000 in the completion).", 4000, 8000, 8192},
	"with commas":            {"This model's maximum context length is 1,048,576 tokens. However, you requested 1,131,072 tokens (1,000,000 in the messages, 131,072 in the completion).", 1000000, 131072, 1048576},
}

// bodies are the bodies in which providers put a sentence.
func bodies(t *testing.T, message string) (list [][]byte) {
	for _, body := range []any{
		map[string]any{"object": "error", "message": message, "type": "BadRequestError", "param": nil, "code": 400},
		map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"}},
		map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": message}},
		map[string]any{"error": message, "error_type": "validation"},
		map[string]any{"message": message},
	} {
		data, err := json.Marshal(body)
		require.NoError(t, err)
		list = append(list, data)
	}
	return list
}

// messageIn returns the message, the code and the path of an error for a client.
func messageIn(t *testing.T, format translate.Format, f *fault.Fault) (message string, code any, param string) {
	var answer struct {
		Error struct {
			Message, Param string
			Code           any
			Details        []struct{ FieldViolations []struct{ Field string } }
		}
	}
	require.Equal(t, 400, formats.Of(format).Errors.Status(f), format)
	require.NoError(t, json.Unmarshal(formats.Of(format).Errors.Append(nil, f, ""), &answer))
	if len(answer.Error.Details) > 0 {
		answer.Error.Param = answer.Error.Details[0].FieldViolations[0].Field
	}
	return answer.Error.Message, answer.Error.Code, answer.Error.Param
}

// An agent asked a server with a context of 32768 tokens for an answer of 32000. The server
// refused the sum with the numbers in its message; the gateway wrote "prompt is too long", so
// that the agent tried to shorten a conversation of one turn, and ended. With the sentence of
// their own vendor, agents ask again for fewer tokens.
func TestTooManyTokensForAContextAreWordedWithTheNumbers(t *testing.T) {
	for name, c := range sums {
		for _, body := range bodies(t, c.message) {
			for _, status := range []int{400, 413, 422, 500} {
				f := fault.Read(status, jsonType, body)
				require.NotNil(t, f.Blame.Excess, "%s: %s", name, body)
				f.Blame.Excess.Complete(1, func() int64 { return 1 })
				assert.Equal(t, fault.Excess{Asked: c.asked, Most: c.context - c.input, Input: c.input, Context: c.context}, *f.Blame.Excess, name)
				assert.True(t, f.TooLong())
				requireExcess(t, name, f)
			}
			requireExcess(t, name, formats.Of(translate.Chat).Errors.ReadEvent(body))
			requireExcess(t, name, fault.ReadAnswer(body))
			known := name == "Anthropic"
			assert.Equal(t, known, formats.Of(translate.Messages).Errors.Relayable(400, body), name)
			assert.Equal(t, known, formats.Of(translate.Messages).Errors.RelayableEvent([]byte("error"), body), name)
			assert.True(t, formats.Of(translate.Chat).Errors.Relayable(400, body), name)
		}
	}
}

func requireExcess(t *testing.T, name string, f *fault.Fault) {
	t.Helper()
	e := f.Blame.Excess
	require.NotNil(t, e, name)
	want := map[translate.Format]string{
		translate.Messages:    fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", e.Input, e.Asked, e.Context),
		translate.Chat:        fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", e.Asked, e.Most, e.Asked),
		translate.Completions: fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", e.Asked, e.Most, e.Asked),
		translate.Responses:   fmt.Sprintf("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= %d, but got %d instead.", e.Most, e.Asked),
		translate.Gemini:      fmt.Sprintf("Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", e.Asked, e.Most+1),
	}
	codes := map[translate.Format]any{
		translate.Messages: nil, translate.Chat: "invalid_value", translate.Completions: "invalid_value",
		translate.Responses: "integer_above_max_value", translate.Gemini: 400.0,
	}
	params := map[translate.Format]string{
		translate.Chat: "max_tokens", translate.Completions: "max_tokens",
		translate.Responses: "max_output_tokens", translate.Gemini: "generationConfig.maxOutputTokens",
	}
	for _, format := range formats.Names() {
		message, code, param := messageIn(t, format, f)
		require.Equal(t, want[format], message, name)
		require.Equal(t, codes[format], code, "%s for %s", name, format)
		require.Equal(t, params[format], param, "%s for %s", name, format)
	}
	events := string(formats.Of(translate.Responses).Errors.AppendEvent(nil, f, "req_1"))
	require.Contains(t, events, "Expected a value")
	require.NotContains(t, events, "context_length_exceeded")
}

// The sentences about the longest answer of a model, whatever the prompt is.
func TestMoreTokensThanAModelAnswersAreWordedForEachClient(t *testing.T) {
	for name, c := range map[string]struct {
		message      string
		asked, limit int64
	}{
		"OpenAI":       {"max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.", 200000, 16384},
		"Anthropic":    {"max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet", 32000, 8192},
		"Google":       {"Unable to submit request because it has a maxOutputTokens value of 131072 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.", 131072, 65536},
		"Model Studio": {"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 32000, 8192},
		"DeepSeek":     {"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 32000, 8192},
		"Groq":         {"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model", 32000, 8192},
		"pydantic":     {"body.max_tokens: Input should be less than or equal to 8192", 32000, 8192},
		"a range":      {"max_tokens must be between 1 and 8192", 32000, 8192},
		"brackets":     {"max_completion_tokens should be in [1, 8192], but got 32000", 32000, 8192},
		"a sign":       {"max_new_tokens must be <= 8192", 32000, 8192},
		"below":        {"max_tokens must be less than 8193", 32000, 8192},
		"Volcengine":   {"The parameter `max_tokens` specified in the request is not valid: integer above maximum value, expected a value <= 32768, but got 65536 instead.", 65536, 32768},
		"OpenAI, new":  {"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 200000 instead.", 200000, 128000},
		"vLLM":         {"max_tokens=393216 cannot be greater than max_model_len=max_total_tokens=262144. Please request fewer output tokens.", 393216, 262144},
		"a relay":      {"max_tokens (98304) exceeds model's maximum output tokens (65536)", 98304, 65536},
		"Cohere":       {"too many tokens: max tokens must be less than or equal to 4096, the maximum output length for this model - received 8000.", 32000, 4096},
		"Groq, new":    {"max_completion_tokens must be less than or equal to 16384, the maximum value for max_completion_tokens is less than the context_window for this model", 32000, 16384},
		"Perplexity":   {"Error code 400: max_tokens must be at most 8192", 32000, 8192},
		"Novita":       {"max_tokens (64000) must be less than or equal to 16384", 64000, 16384},
		"Baseten":      {"the value of max_tokens cannot exceed 8192.", 32000, 8192},
		"AI21":         {"max_tokens: ensure this value is less than or equal to 4096", 32000, 4096},
		"Nebius":       {"The maximum value for `max_tokens` is 8192", 32000, 8192},
		"Zhipu":        {"max_tokens参数非法。取值范围[1,98304]", 131072, 98304},
		"Z.ai":         {"max_tokens is illegal. The value range is [1, 16384]", 32000, 16384},
		"Bedrock Nova": {"Malformed input request: #/inferenceConfig/maxTokens: 100000 is not less or equal to 10000, please reformat your input and try again.", 100000, 10000},
		"MLX":          {"max_tokens (32000) exceeds the maximum of 8192", 32000, 8192},
		"a catalog":    {"max_tokens of 32000 is larger than the maximum allowed, 4096", 32000, 4096},
		"a router":     {"Requested max_tokens 32000 exceeds model maximum 8000", 32000, 8000},
		"marshmallow":  {"{'max_tokens': ['Must be less than or equal to 4096.']}", 32000, 4096},
		"a list":       {`[{"type":"less_than_equal","loc":["body","max_tokens"],"msg":"Input should be less than or equal to 4096","input":32000}]`, 32000, 4096},
		"from two on":  {"max_tokens must be between 2 and 2048", 32000, 2048},
		"Bedrock":      {"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", 32000, 4096},
	} {
		for _, body := range bodies(t, c.message) {
			f := fault.Read(400, jsonType, body)
			require.NotNil(t, f.Blame.Excess, name)
			f.Blame.Excess.Complete(max(c.asked, 32000), nil)
			assert.Equal(t, fault.Excess{Asked: c.asked, Most: c.limit}, *f.Blame.Excess, name)
			message, _, _ := messageIn(t, translate.Messages, f)
			assert.Contains(t, message, fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens", c.asked, c.limit), name)
			message, _, _ = messageIn(t, translate.Chat, f)
			assert.Equal(t, fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %[1]d.", c.asked, c.limit), message, name)
			message, _, _ = messageIn(t, translate.Responses, f)
			assert.Contains(t, message, fmt.Sprintf("<= %d, but got %d instead.", c.limit, c.asked), name)
		}
	}
}

// Some servers state the sum alone, or no size at all. Agents that asked for a long answer read
// that the prompt is too long, also in the first turn of a conversation.
func TestASumWithoutItsPartsIsDividedByTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		message                         string
		asked, estimate, input, context int64 // input: 0 if the prompt does not fit
	}{
		"Moonshot":                {"Invalid request: Your request exceeded model token limit: 40960 (requested: 45000)", 32000, 1, 13000, 40960},
		"Moonshot, older":         {"Invalid request: Your request exceeded model token limit: 40960", 32000, 13500, 13500, 40960},
		"Moonshot, a long prompt": {"Invalid request: Your request exceeded model token limit: 40960", 100, 45000, 0, 0},
		"Cerebras":                {"Please reduce the length of the messages or completion. Current length is 45000 while limit is 40960", 32000, 1, 13000, 40960},
		"Cerebras, a long prompt": {"Please reduce the length of the messages or completion. Current length is 45000 while limit is 40960", 1000, 1, 0, 0},
		"Cohere":                  {"too many tokens: total number of tokens (prompt and prediction) cannot exceed 40960, received 45000.", 32000, 1, 13000, 40960},
		"SiliconFlow":             {"max_total_tokens (45000) must be less than or equal to max_seq_len (40960)", 32000, 1, 13000, 40960},
		"no bound in the request": {"max_total_tokens (45000) must be less than or equal to max_seq_len (40960)", 0, 1, 0, 0},
	} {
		for _, body := range bodies(t, c.message) {
			f := fault.Read(400, jsonType, body)
			require.Equal(t, fault.CodeOverflow, f.Code, name)
			f.Size(c.asked, func() int64 { return c.estimate })
			if c.input == 0 {
				assert.Nil(t, f.Blame.Excess, name)
				assert.Equal(t, fault.CodeOverflow, f.Code)
				continue
			}
			require.NotNil(t, f.Blame.Excess, name)
			assert.Equal(t, fault.Excess{Asked: c.asked, Most: c.context - c.input, Input: c.input, Context: c.context}, *f.Blame.Excess, name)
			requireExcess(t, name, f)
		}
	}
}

// A server that stops counting at the first token too much states no size of the prompt. An
// agent that computes from such a number asks for a thousand tokens less each time, and ends.
func TestAPromptThatWasNotCountedIsEstimated(t *testing.T) {
	for _, message := range []string{
		"This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769 tokens.",
		"This model's maximum context length is 65536 tokens. However, you requested 65536 output tokens and your prompt contains 77409 characters (more than 0 characters, which is the upper bound for 0 input tokens).",
	} {
		f := fault.Read(400, jsonType, bodies(t, message)[0])
		require.NotNil(t, f.Blame.Excess, message)
		f.Blame.Excess.Complete(0, func() int64 { return 20000 })
		e := *f.Blame.Excess
		assert.Equal(t, int64(20000), e.Input)
		assert.Equal(t, e.Context-20000, e.Most)
		f.Blame.Excess.Complete(0, func() int64 { return 30000 })
		assert.Equal(t, e, *f.Blame.Excess, "an estimate is no second guess")
	}
	f := fault.Read(400, jsonType, bodies(t, "maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens")[0])
	f.Blame.Excess.Complete(0, func() int64 { return 1 << 50 })
	assert.Equal(t, int64(1), f.Blame.Excess.Most, "an answer of one token is the least")
}

// Where the prompt alone does not fit, the conversation has to be shortened.
func TestPromptsThatDoNotFitAreNoExcess(t *testing.T) {
	for _, message := range []string{
		"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (132000 in the messages, 8000 in the completion).",
		"input length and `max_tokens` exceed context limit: 200001 + 1000 > 200000, decrease input length or `max_tokens` and try again",
		"This model's maximum context length is 40960 tokens. However, you requested 0 output tokens and your prompt contains at least 40961 input tokens, for a total of at least 40961 tokens.",
		"This model's maximum context length is 262144 tokens. However, you requested 32000 output tokens and your prompt contains at least 230145 input tokens, for a total of at least 262145 tokens.",
		"Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 34000 tokens: 33000 tokens from the input messages and 1000 tokens for the completion.",
		"`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`",
	} {
		f := fault.Read(400, jsonType, bodies(t, message)[0])
		assert.Nil(t, f.Blame.Excess, message)
		assert.Equal(t, "context_length_exceeded", f.Code, message)
		assert.True(t, f.TooLong())
	}
	for _, message := range []string{
		"The sum of the prompt and max_tokens must be at most 8192.", "prompt tokens + max_tokens must be less than or equal to 8192",
		"max_tokens must be at least 1, got -3.", "Requests with max_tokens > 4096 must have stream=true",
	} {
		assert.Nil(t, fault.Read(400, jsonType, bodies(t, message)[0]).Blame.Excess, message)
	}
	f := fault.Read(429, jsonType, bodies(t, sums["vLLM"].message)[0])
	assert.Nil(t, f.Blame.Excess, "a rate limit")
}

// A server subtracted the prompt from its context, and found no room at all: "max_tokens: 32000 >
// -5". The client read that its answer can have 5 tokens.
func TestNumbersBelowZeroAreNoExcess(t *testing.T) {
	number := regexp.MustCompile(`\d[\d,.]*`)
	for name, c := range sums {
		for _, at := range number.FindAllStringIndex(c.message, -1) {
			message := c.message[:at[0]] + "-" + c.message[at[0]:]
			if e := fault.Read(400, jsonType, bodies(t, message)[0]).Blame.Excess; e != nil { // the number has no meaning
				e.Complete(1, nil)
				assert.Equal(t, fault.Excess{Asked: c.asked, Most: c.context - c.input, Input: c.input, Context: c.context}, *e, "%s: %s", name, message)
			}
		}
	}
	for _, message := range []string{
		"max_tokens: 32000 > -5, which is the maximum allowed number of output tokens",
		"max_tokens is too large: 32000. This model supports at most -5 completion tokens",
		"Range of max_tokens should be [1, −5]",
		"`max_tokens` must be less than or equal to `-5`",
		"max_tokens (32000) exceeds model's maximum output tokens (-5)",
		"a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to -5 (exclusive)",
	} {
		assert.Nil(t, fault.Read(400, jsonType, bodies(t, message)[0]).Blame.Excess, message)
	}
}
