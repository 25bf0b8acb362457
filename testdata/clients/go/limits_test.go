package clients

import (
	"net/http"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestG120AKeyWithALimitIsToldWhatIsLeft(t *testing.T) {
	client := newClient(option.WithAPIKey(limitedKey))
	for range 5 {
		var answer *http.Response
		_, err := client.Messages.New(t.Context(), ask("How much is left?"), option.WithResponseInto(&answer))
		require.NotNil(t, answer)
		assert.Equal(t, "4", answer.Header.Get("Anthropic-Ratelimit-Requests-Limit"))
		reset, parseErr := time.Parse(time.RFC3339, answer.Header.Get("Anthropic-Ratelimit-Requests-Reset"))
		require.NoError(t, parseErr)
		assert.Positive(t, time.Until(reset))
		if err == nil {
			continue
		}
		failure := apiError(t, err)
		assert.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
		assert.EqualValues(t, "rate_limit_error", failure.Type())
		assert.Equal(t, "request rate limit reached for this key", failure.Message)
		assert.Equal(t, "0", answer.Header.Get("Anthropic-Ratelimit-Requests-Remaining"))
		assert.Regexp(t, `^[1-9][0-9]*$`, answer.Header.Get("Retry-After"))
		return
	}
	assert.Fail(t, "more requests were served than the key may send")
}
