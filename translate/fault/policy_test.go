package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func TestRefusedContentIsKnownByCodeOrSentence(t *testing.T) {
	for body, want := range map[string]bool{
		`{"error":{"message":"x","code":"content_filter"}}`:                                                                   true,
		`{"error":{"message":"x","type":"content_filter"}}`:                                                                   true,
		`{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`:    true,
		`{"error":{"message":"Your request was rejected as a result of our safety system.","code":"moderation_blocked"}}`:     true,
		`{"error":{"message":"The model requires moderation on OpenAI. Your input was flagged for \"violence\"","code":403}}`: true,
		`{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}`:                                          true,
		`{"error":{"message":"messages: too long"}}`:                                                                          false,
		`{"error":{"message":"You are not allowed to use this model","code":"permission_denied"}}`:                            false,
		`{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}`:                                                    false,
	} {
		for _, status := range []int{400, 403} {
			f := fault.Read(status, jsonType, []byte(body))
			assert.Equal(t, want, f.Blame.Content, body)
			assert.Equal(t, map[int]fault.Kind{400: fault.Invalid, 403: fault.Forbidden}[status], f.Kind, "the status is the provider's")
		}
		assert.False(t, fault.Read(429, jsonType, []byte(body)).Blame.Content, body)
	}
	event := []byte(`{"type":"response.failed","response":{"error":{"code":"cyber_policy","message":"m"}}}`)
	assert.True(t, formats.Of(translate.Responses).Errors.ReadEvent(event).Blame.Content)
}
