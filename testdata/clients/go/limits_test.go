package clients

import (
	"net/http"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
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

// limited asks for a response with the key that has a limit, and returns the headers of
// the answer and the error.
func limited(t *testing.T, tokens int64, options ...openaioption.RequestOption) (http.Header, *openai.Error) {
	t.Helper()
	service := responding()
	params := respond("messages", nil, user("How much is left?"))
	params.Model, params.MaxOutputTokens = responses.ResponsesModel(model), openai.Int(tokens)
	var answer *http.Response
	_, err := service.New(t.Context(), params, append(options, openaioption.WithAPIKey(limitedKey), openaioption.WithResponseInto(&answer))...)
	require.NotNil(t, answer)
	var failure *openai.Error
	if err != nil {
		require.ErrorAs(t, err, &failure)
	}
	return answer.Header, failure
}

func TestG120AResponsesClientWithALimitIsToldWhatIsLeft(t *testing.T) {
	for range 5 {
		header, failure := limited(t, 64)
		assert.Equal(t, "4", header.Get("X-Ratelimit-Limit-Requests"))
		reset, err := time.ParseDuration(header.Get("X-Ratelimit-Reset-Requests"))
		require.NoError(t, err)
		assert.Positive(t, reset)
		assert.Regexp(t, `^[0-9]{5,6}$`, header.Get("X-Ratelimit-Remaining-Tokens"))
		if failure == nil {
			continue
		}
		assert.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
		assert.Equal(t, []string{"rate_limit_error", "rate_limit_exceeded"}, []string{failure.Type, failure.Code})
		assert.Equal(t, "0", header.Get("X-Ratelimit-Remaining-Requests"))
		assert.Regexp(t, `^[1-9][0-9]*$`, header.Get("Retry-After"))
		assert.Empty(t, header.Get("X-Should-Retry"))
		return
	}
	assert.Fail(t, "more requests were served than the key may send")
}

// What waiting cannot mend has the same status as a rate: the client must not try again.
func TestAResponseThatIsTooLargeForTheLimitIsAskedForOnce(t *testing.T) {
	sent := 0
	count := func(r *http.Request, next openaioption.MiddlewareNext) (*http.Response, error) {
		sent++
		return next(r)
	}
	header, failure := limited(t, 200_000, openaioption.WithMaxRetries(2), openaioption.WithMiddleware(count))
	require.NotNil(t, failure)
	assert.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
	assert.Contains(t, failure.Message, "more than the token rate limit of 100000")
	assert.Equal(t, "false", header.Get("X-Should-Retry"))
	assert.Equal(t, 1, sent)
}
