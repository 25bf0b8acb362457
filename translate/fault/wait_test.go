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

// The members in which services state a time to wait were not read: the weekly quota of a subscription, which has
// no header, let no target rest.
func TestTheTimeToWaitIsReadFromMembers(t *testing.T) {
	for body, want := range map[string]int{
		`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1777936568,"resets_in_seconds":602705}}`: 602705,
		`{"type":"error","error":{"type":"usage_limit_reached","message":"x","resets_in_seconds":13872},"status_code":429}`:                                          13872,
		`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"x","resets_in_seconds":7}}}`:                                         7,
		`{"status":429,"title":"Error 1015: You are being rate limited","retryable":true,"retry_after":30}`:                                                          30,
		`{"error":{"message":"x","metadata":{"retry_after":2.2}}}`:                                                                                                   3,
		`{"error":{"message":"x","retry_after":"12s"}}`:                                                                                                              12,
		`{"error":{"message":"x. Try again in 5s","retry_after":9}}`:                                                                                                 9,
		`{"error":{"message":"x. Try again in 5s","retry_after":null}}`:                                                                                              5,
		`{"error":{"message":"x","retry_after":-4}}`:                                                                                                                 0,
		`{"error":{"message":"x","retry_after":true}}`:                                                                                                               0,
		`{"error":{"message":"x"},"request":{"retry_after":9}}`:                                                                                                      0, // a quote
		`{"error":{"message":"x","retry_after":99999999999}}`:                                                                                                        31536000,
	} {
		assert.Equal(t, want, fault.Read(429, jsonType, []byte(body)).RetryAfter, body)
		assert.Zero(t, fault.Read(400, jsonType, []byte(body)).RetryAfter, body)
	}
}

func errorBody(message string) []byte { return fmt.Appendf(nil, `{"error":{"message":%q}}`, message) }
