package fault_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

const threadError = `{"type":"error","error":{"type":"invalid_request_error","message":"no thread","details":{"error_code":"thread_unsupported_request","unsupported":["thread"],"limit": 9007199254740993}},"request_id":"theirs"}`

// An error event has no status, so the gateway writes its own where an answer was
// committed early. It left out error.details, without which SDKs cannot leave
// message threads.
func TestDetailsOfMessagesErrorsAreKept(t *testing.T) {
	want := `event: error
data: {"type":"error","error":{"type":"invalid_request_error","message":"no thread","details":{"error_code":"thread_unsupported_request","limit":9007199254740993,"unsupported":["thread"]}},"request_id":"ours"}

`
	for name, fault := range map[string]*fault.Fault{
		"status": fault.Read(400, jsonType, []byte(threadError)),
		"event":  formats.Of(translate.Messages).Errors.ReadEvent([]byte(threadError)),
	} {
		assert.Equal(t, want, string(formats.Of(translate.Messages).Errors.AppendEvent(nil, fault, "ours")), name)
		assert.NotContains(t, string(formats.Of(translate.Chat).Errors.Append(nil, fault, "")), "details", name)
	}
}

func TestOnlyDetailsThatMayBeReadAreKept(t *testing.T) {
	for name, body := range map[string]string{
		"another format":           `{"error":{"message":"no","details":{"a":1}}}`,
		"no object":                `{"type":"error","error":{"message":"no","details":[{"a":1}]}}`,
		"too long":                 `{"type":"error","error":{"message":"no","details":{"a":"` + strings.Repeat("x", 2048) + `"}}}`,
		"of the gateway's account": `{"type":"error","error":{"type":"authentication_error","message":"no","details":{"a":1}}}`,
		"null":                     `{"type":"error","error":{"message":"no","details":null}}`,
	} {
		fault := fault.Read(400, jsonType, []byte(body))
		assert.NotContains(t, string(formats.Of(translate.Messages).Errors.Append(nil, fault, "")), "details", name)
	}
	secret := fault.Read(400, jsonType, []byte(`{"type":"error","error":{"message":"no","details":{"key":"sk-\u0073ecret"}}}`))
	secret.Redact("sk-secret")
	assert.Equal(t, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, string(formats.Of(translate.Messages).Errors.Append(nil, secret, "")))
}
