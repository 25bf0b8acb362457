package fault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Clients read the ids of the operator's teams, projects and keys in the errors of
// providers.
func TestWhatIdentifiesTheAccountIsMasked(t *testing.T) {
	const id = "0a1b2c3d-1111-4222-8333-944445555666"
	for text, want := range map[string]string{
		"The API key ID " + id + " is blocked. Your team " + id + " has no access, see https://console.x.ai/team/" + id + ".": "The API key ID *** is blocked. Your team *** has no access, see https://console.x.ai/team/***.",
		"Rate limit reached for gpt-5.4 in organization org-aB3dE6gH9 on tokens per min (TPM): Limit 30000, Used 29999.":      "Rate limit reached for gpt-5.4 in organization *** on tokens per min (TPM): Limit 30000, Used 29999.",
		"Project `proj_a1b2c3d4e5` does not have access to model `gpt-5.4-mini-2026-03-05`":                                   "Project `***` does not have access to model `gpt-5.4-mini-2026-03-05`",
		"Consumer 'project_number:123456789012' has been suspended.":                                                          "Consumer 'project_number:***' has been suspended.",
		"Incorrect API key provided: sk-proj-****************wxyz. You can find it in your account.":                          "Incorrect API key provided: ***. You can find it in your account.",
		"key AIzaSyA1234567890abcdefg is restricted":                                                                          "key *** is restricted",
		"User: arn:aws:iam::123456789012:user/ops is not authorized to perform: bedrock:InvokeModel":                          "User: *** is not authorized to perform: bedrock:InvokeModel",
		"POST https://eu.example.com/v1/chat/completions?key=abc failed":                                                      "POST https://eu.example.com/v1/chat/completions failed",
		"POST http://llm.internal:8000/v1/chat/completions failed":                                                            "POST *** failed",
		"/subscriptions/" + id + "/resourceGroups/x":                                                                          "/subscriptions/***/resourceGroups/x",
		`{"error":{"message":"see https:\/\/llm.internal\/v1?a=1 of team \"` + id + `\""},"user_id":"user_2aBcDeFgH1"}`:       `{"error":{"message":"see *** of team \"***\""},"user_id":"***"}`,
		`{"account":"123456789012","type":"error"}`:                                                                           `{"account":"***","type":"error"}`,
	} {
		assert.Equal(t, want, string(fault.Mask([]byte(text), "llm.internal")))
	}
	for _, text := range []string{
		"", "messages.0.content: user messages must have non-empty content",
		"Your organization must be verified to use the model `gpt-5.4`. Please go to: https://platform.openai.com/settings/organization/general",
		"This request would exceed your organization's rate limit of 40000 input tokens per minute",
		"The model `gpt-5.4` does not exist or you do not have access to it. (request id: req_011CTabcdefgh123)",
		`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_011CTabc"}`,
		"tools.0.custom.input_schema.properties.project: unknown key 'max_items2'",
		"prompt is too long: 208310 tokens > 200000 maximum",
	} {
		assert.Equal(t, text, string(fault.Mask([]byte(text), "llm.internal")))
	}
	read := fault.Read(403, jsonType, []byte(`{"code":"denied","error":"Your team `+id+` has no access"}`))
	assert.Equal(t, "Your team *** has no access", read.Message)
}

func BenchmarkMask(b *testing.B) {
	body := []byte(`{"error":{"message":"` + strings.Repeat("the account of a user has no access to that, see a/b ", 20_000) + `"}}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		fault.Mask(body, "api.example.com")
	}
}
