package fault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Refusals of providers, as their services and servers write them.
func TestRefusalsHaveAReasonThatALogMayHold(t *testing.T) {
	for _, c := range []struct {
		status       int
		body         string
		reason, path string
	}{
		{404, `{"error":{"message":"model 'secret text' not found","type":"not_found_error","param":null,"code":null}}`, "the model or the endpoint is not known", ""},
		{404, `{"error":"model \"secret\" not found, try pulling it first"}`, "the model or the endpoint is not known", ""},
		{400, `{"error":{"message":"registry.ollama.ai/library/tiny:latest does not support tools","type":"invalid_request_error"}}`, "tools are not supported", ""},
		{400, `{"error":{"message":"this model is missing data required for image input"}}`, "images are not supported", ""},
		{400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice","code":400}`, "tools are not supported", ""},
		{400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","param":"max_tokens","code":"unsupported_parameter"}}`, "a field is unknown or not supported", "max_tokens"},
		{400, `{"error":{"message":"Invalid type","param":"messages[3].content[0].image_url.url"}}`, "the request is not valid", "messages.3.content.0.image_url.url"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.secret: Extra inputs are not permitted"}}`, "a field is unknown or not supported", "messages.1.content.0"},
		{422, `{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":"secret"}]}`, "a field is missing", "body.messages.0"},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. secret","code":"context_length_exceeded","param":"messages"}}`, "the input is longer than the context", "messages"},
		{413, `{"error":{"message":"too large"}}`, "the request is too large", ""},
		{400, `secret: text`, "the request is not valid", ""},
		{400, `{"error":{"message":"x","param":"my secret"}}`, "the request is not valid", ""},
		{400, `{"error":{"message":"x","param":"content.4242424242424242"}}`, "the request is not valid", "content"},
		{400, `{"error":{"message":"x","param":"` + strings.Repeat("content.", 99) + `"}}`, "the request is not valid", strings.TrimSuffix(strings.Repeat("content.", 8), ".")},
		{400, `{"error":{"message":"x","param":{"a":"secret"}}}`, "the request is not valid", ""},
		{400, ``, "the request is not valid", ""},
		{500, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`, "roles do not alternate", ""},
		{500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, "images are not supported", ""},
		{500, `{"error":{"code":500,"message":"audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, "audio is not supported", ""},
		{500, `{"error":{"message":"does not support tools"}}`, "tools are not supported", ""},

		// Not the client's fault.
		{401, `{"error":{"message":"x","param":"model"}}`, "", ""},
		{403, `{"error":{"message":"x"}}`, "", ""},
		{415, `{"error":{"message":"x"}}`, "", ""},
		{429, `{"error":{"message":"x"}}`, "", ""},
		{400, `{"error":{"message":"Your credit balance is too low to access the API"}}`, "", ""},
		{500, `{"error":{"message":"secret"}}`, "", ""},
		{502, `{"error":{"message":"does not support tools"}}`, "", ""},
	} {
		fault := fault.Read(c.status, "application/json", []byte(c.body))
		assert.Equal(t, [2]string{c.reason, c.path}, [2]string{fault.Blame.Reason, fault.Blame.Path(formats.IsMember)}, c.body)
		assert.NotContains(t, fault.Blame.Reason+fault.Blame.Path(formats.IsMember), "secret")
	}
}

// The log names the field that a provider blames. Its words were a list by hand, of which the
// formats responses, gemini and converse had few: the path of "instructions" was empty.
func TestThePathOfAFieldIsKnownInEveryFormat(t *testing.T) {
	for _, c := range []struct{ body, path string }{
		// Stated apart from the message.
		{`{"error":{"message":"Unsupported parameter","param":"instructions"}}`, "instructions"},
		{`{"error":{"message":"x","param":"max_output_tokens"}}`, "max_output_tokens"},
		{`{"error":{"message":"x","param":"input[3].content[0].image_url"}}`, "input.3.content.0.image_url"},
		{`{"error":{"message":"x","param":"text.format.schema"}}`, "text.format.schema"},
		{`{"error":{"message":"x","param":"tools[0].function.parameters"}}`, "tools.0.function.parameters"},
		{`{"error":{"code":400,"message":"x","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config.thinking_config.thinking_budget","description":"secret"}]}]}}`,
			"generation_config.thinking_config.thinking_budget"},
		// In the message.
		{`{"error":{"code":400,"message":"contents[0].parts: must not be empty"}}`, "contents.0.parts"},
		{`{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"secret\" at 'contents[1].parts[0].function_call': Cannot find field."}}`, "contents.1.parts.0.function_call"},
		{`{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[2].name: Invalid function name"}}`, "GenerateContentRequest.tools.0.function_declarations.2.name"},
		{`{"message":"inferenceConfig.maxTokens: secret"}`, "inferenceConfig.maxTokens"},
		{`{"message":"1 validation error detected: Value 'secret' at 'messages.1.member.content.1.member.toolResult.toolUseId' failed to satisfy constraint: secret"}`,
			"messages.1.member.content.1.member.toolResult.toolUseId"},
		{`{"message":"1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.inputSchema' failed to satisfy constraint"}`, "toolConfig.tools.1.member.toolSpec.inputSchema"},
		{`{"error":{"message":"Invalid 'input[0].arguments': string too long"}}`, "input.0.arguments"},
		{`{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model."}}`, "reasoning.effort"},
		// Texts of clients.
		{`{"error":{"message":"Unsupported value: 'secret' is not supported"}}`, ""},
		{`{"error":{"message":"Value 'a' at 'my secret' failed"}}`, ""},
		{`{"error":{"message":"x","param":"metadata.secret"}}`, "metadata"},
	} {
		f := fault.Read(400, "application/json", []byte(c.body))
		assert.Equal(t, c.path, f.Blame.Path(formats.IsMember), c.body)
	}
}
