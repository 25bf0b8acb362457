package fault_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// overflows are messages of providers for a prompt that does not fit into the context.
var overflows = map[string]string{
	"OpenAI":                            `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
	"OpenAI, newer":                     `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
	"OpenAI, its limit":                 `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.","type":"invalid_request_error"}}`,
	"DeepSeek":                          `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (132000 in the messages, 8000 in the completion).","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
	"OpenRouter":                        `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.","code":400}}`,
	"Groq":                              `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
	"Mistral":                           `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}`,
	"xAI":                               `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`,
	"Together, SGLang":                  `{"error":{"message":"The input (516368 tokens) is longer than the model's context length (262144 tokens).","type":"BadRequestError","code":400}}`,
	"vLLM":                              `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","param":null,"code":400}}`,
	"vLLM, older":                       `{"object":"error","message":"The decoder prompt (length 8825) is longer than the maximum model length of 8192.","type":"BadRequestError","param":null,"code":400}`,
	"llama.cpp":                         `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
	"llama.cpp, by its type":            `{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}`,
	"Ollama":                            `{"error":{"message":"the input length exceeds the context length","type":"invalid_request_error","param":null,"code":null}}`,
	"Ollama, native":                    `{"error":"prompt too long; exceeded max context length by 4021 tokens"}`,
	"LM Studio":                         `{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`,
	"Gemini":                            `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`,
	"Bedrock":                           `{"message":"Input is too long for requested model."}`,
	"Text Generation Inference, prompt": `{"error":"Input validation error: ` + "`inputs`" + ` must have less than 32767 tokens. Given: 45000","error_type":"validation"}`,
	"LM Studio, loaded":                 `{"error":"Trying to keep the first 45000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`,
	"Bedrock, by count":                 `{"message":"Too many input tokens. Max input tokens: 8192, request input token count: 20000"}`,
	"Vertex":                            `{"error":{"code":400,"message":"Unable to submit request because the input token count is 1196265 but model only supports up to 1048576. Reduce the input token count and try again.","status":"INVALID_ARGUMENT"}}`,
	"Moonshot":                          `{"error":{"message":"Input token length too long","type":"invalid_request_error"}}`,
	"Zhipu":                             `{"error":{"code":"1261","message":"Prompt 超长"}}`,
	"Cohere":                            `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 140000. Try using a shorter prompt."}`,
	"SiliconFlow":                       `{"code":20015,"message":"length of prompt_tokens (45000) must be less than max_seq_len (32768).","data":null}`,
	"TabbyAPI":                          `{"detail":"Prompt length 45000 is greater than max_seq_len 32768"}`,
	"KoboldCpp":                         `{"error":"prompt too long"}`,
	"inside a proxy's error":            `{"error":{"message":"{\"error\":{\"message\":\"no\",\"code\":\"context_length_exceeded\"}}"}}`,
	"Text Generation Inference":         `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 8193. Given: 9000 ` + "`inputs`" + ` tokens","error_type":"validation"}`,
}

// Clients that keep conversations shorten them when the context is full, if the
// error is worded as they know it. Providers' sentences were passed on, which the
// clients of another vendor showed to their users, and stopped.
func TestMessagesOfOverflowsAreKnownToClients(t *testing.T) {
	for name, body := range overflows {
		for _, status := range []int{400, 413, 500} {
			fault := fault.Read(status, jsonType, []byte(body))
			requireOverflow(t, name, fault)
		}
		requireOverflow(t, name, formats.Of(translate.Chat).Errors.ReadEvent([]byte(body)))
		requireOverflow(t, name, fault.ReadAnswer([]byte(body)))
		assert.False(t, formats.Of(translate.Messages).Errors.Relayable(400, []byte(body)), name)
		assert.True(t, formats.Of(translate.Chat).Errors.Relayable(400, []byte(body)), name)
		assert.False(t, formats.Of(translate.Messages).Errors.RelayableEvent([]byte("error"), []byte(body)), name)
	}
}

func requireOverflow(t *testing.T, name string, fault *fault.Fault) {
	t.Helper()
	var answer struct {
		Error struct {
			Type, Status, Message string
			Code                  any
		}
	}
	for _, format := range formats.Names() {
		require.Equal(t, http.StatusBadRequest, formats.Of(format).Errors.Status(fault), name)
		require.NoError(t, json.Unmarshal(formats.Of(format).Errors.Append(nil, fault, ""), &answer))
		switch format {
		case translate.Gemini: // whose words are those of case Y043
			require.Equal(t, "INVALID_ARGUMENT", answer.Error.Status, name)
			continue
		case translate.Messages:
			require.Equal(t, "prompt is too long: "+fault.Message, answer.Error.Message, name)
		default:
			require.Equal(t, fault.Message, answer.Error.Message, name)
			require.Equal(t, "context_length_exceeded", answer.Error.Code, name)
		}
		require.Equal(t, "invalid_request_error", answer.Error.Type, name)
	}
}

func TestOverflowsThatMessagesClientsKnowAreLeftAsTheyAre(t *testing.T) {
	for _, message := range []string{
		"prompt is too long: 213462 tokens > 200000 maximum",
		"Prompt is too long",
	} {
		body, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": message}})
		require.NoError(t, err)
		assert.True(t, formats.Of(translate.Messages).Errors.Relayable(400, body), message)
		assert.True(t, formats.Of(translate.Messages).Errors.RelayableEvent([]byte("error"), body), message)
		fault := fault.Read(400, jsonType, body)
		assert.Equal(t, "context_length_exceeded", fault.Code, message)
		assert.JSONEq(t, string(body), string(formats.Of(translate.Messages).Errors.Append(nil, fault, "")))
	}
}

// Numbers of tokens are also what rate limits and bounds of the answer are about.
func TestOtherErrorsAboutTokensAreNoOverflows(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
	}{
		{429, `{"error":{"message":"Rate limit reached for gpt-5: tokens per min (TPM): Limit 30000, Requested 50000. Please reduce the length of the messages.","type":"tokens","code":"rate_limit_exceeded"}}`},
		{413, `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`},
		{400, `{"error":{"message":"max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`},
		{400, `{"error":{"message":"max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens","type":"invalid_request_error"}}`},
		{429, `{"message":"Too many tokens, please wait before trying again."}`},
		{401, `{"error":{"message":"prompt is too long","type":"authentication_error"}}`},
		{413, `{"error":{"message":"Request exceeds the maximum size","type":"request_too_large"}}`},
		{503, `{"error":{"message":"the context size has been exceeded"}}`},
	} {
		fault := fault.Read(tt.status, jsonType, []byte(tt.body))
		assert.NotEqual(t, "context_length_exceeded", fault.Code, tt.body)
		assert.NotContains(t, string(formats.Of(translate.Messages).Errors.Append(nil, fault, "")), "prompt is too long:", tt.body)
	}
}
