package responses_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses"
)

// A stream that failed before its first event had an id of two prefixes,
// "resp_req_0123...", which is no id of a response.
func TestAFailedStreamHasTheIDOfAResponse(t *testing.T) {
	out := responses.Descriptor.Errors.AppendEvent(nil, fault.UnknownModel("m"), "req_0123456789abcdefghijklmn")
	assert.Contains(t, string(out), `"id":"resp_0123456789abcdefghijklmn"`)
	assert.NotContains(t, string(out), "req_")
}
