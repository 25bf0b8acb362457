package fault_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// A rate limit without a header, as in a stream, had no time to wait: Codex gave up at once,
// and the gateway did not know when the provider can be asked again.
func TestTheTimeToWaitIsReadFromTheMessage(t *testing.T) {
	for message, want := range map[string]int{
		"Rate limit reached for m on requests per min. Limit: 3 / min. Please try again in 20s.": 20,
		"Rate limit reached. Please try again in 350ms. Contact us":                              1,
		"Please try again in 1m30s.":                         90,
		"Please try again in 6m0s":                           360,
		"Please try again in 1h2m3.5s":                       3724,
		"Please try again in 1m26.499s. Need more tokens?":   87,
		"Requests have exceeded. Retry after 7 seconds.":     7,
		"Please retry after 1 second.":                       1,
		"Please retry in 38.290s.":                           39,
		"try again in 2 minutes and 5 seconds":               125,
		"Try again in 1 min, 10 secs":                        70,
		"retry after 12":                                     12,
		"retry after 12. 30 requests are left":               12,
		"Try again in 20s, 3 requests are left":              20,
		"try again in 24h":                                   86400,
		"try again in 25 hours":                              90000, // was 0: no target rested by it
		"Your quota will reset after 27h41m36s.":             99696,
		"Your limit resets in 3 days and 4 hours":            273600,
		"try again in 999999999h":                            31536000,
		"try again in 99999999999999999999 s":                31536000,
		"try again in a moment":                              0,
		"try again in 5 to 10 minutes":                       0,
		"try again in -5s":                                   0,
		"try again in 0s":                                    0,
		"slow down":                                          0,
		"the prompt was: wait for 5 seconds, then try again": 0,
	} {
		for _, status := range []int{429, 503} {
			f := fault.Read(status, jsonType, errorBody(message))
			assert.Equal(t, want, f.RetryAfter, message)
			assert.Equal(t, message, f.Message, "the words are those of the provider")
		}
		assert.Zero(t, fault.Read(400, jsonType, errorBody(message)).RetryAfter)
		assert.Zero(t, fault.Read(402, jsonType, errorBody(message)).RetryAfter)
	}
	event := []byte(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Please try again in 2s."}}}`)
	assert.Equal(t, 2, formats.Of(translate.Responses).Errors.ReadEvent(event).RetryAfter)
}

func errorBody(message string) []byte { return fmt.Appendf(nil, `{"error":{"message":%q}}`, message) }
