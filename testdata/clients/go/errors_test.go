package clients

import (
	"context"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const requestID = `^req_[0-9A-Za-z]{24}$`

func TestGatewaysOwnErrorsAreTyped(t *testing.T) {
	wrongKey, narrowKey := option.WithAPIKey("sk-wrong"), option.WithAPIKey(narrowKey)
	unknown := func(p *anthropic.MessageNewParams) { p.Model = "no-such-model" }
	noTokens := func(p *anthropic.MessageNewParams) { p.MaxTokens = 0 }
	hot := option.WithJSONSet("temperature", 1.5)
	for name, c := range map[string]struct {
		options []option.RequestOption
		params  anthropic.MessageNewParams
		status  int
		kind    anthropic.ErrorType
		message string
	}{
		"wrong key":              {[]option.RequestOption{wrongKey}, ask("Let me in"), http.StatusUnauthorized, "authentication_error", "the API key is not valid"},
		"key for other models":   {[]option.RequestOption{narrowKey}, ask("Let me in"), http.StatusForbidden, "permission_error", "this key may not use model 'demo'"},
		"unknown model":          {nil, ask("Hi", unknown), http.StatusNotFound, "not_found_error", "model: 'no-such-model' is not known"},
		"field out of range":     {nil, ask("Hi", noTokens), http.StatusBadRequest, "invalid_request_error", "max_tokens: must be an integer of at least 1, got 0"},
		"number out of range":    {[]option.RequestOption{hot}, ask("Hi"), http.StatusBadRequest, "invalid_request_error", "temperature: must be between 0 and 1, got 1.5"},
		"two values of a header": {[]option.RequestOption{option.WithHeaderAdd("Authorization", "Bearer sk-two")}, ask("Hi"), http.StatusBadRequest, "invalid_request_error", "authorization: must be sent once, with one value"},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(c.options...)
			_, err := client.Messages.New(t.Context(), c.params)
			failure := apiError(t, err)
			assert.Equal(t, c.status, failure.StatusCode)
			assert.Equal(t, c.kind, failure.Type())
			assert.Equal(t, c.message, failure.Message)
			assert.Regexp(t, requestID, failure.RequestID)
			assert.Contains(t, failure.RawJSON(), `"request_id":"`+failure.RequestID+`"`)
		})
	}
}

func TestUnknownModelCardIsNotFound(t *testing.T) {
	client := newClient()
	_, err := client.Models.Get(t.Context(), "no-such-model", anthropic.ModelGetParams{})
	failure := apiError(t, err)
	assert.Equal(t, http.StatusNotFound, failure.StatusCode)
	assert.EqualValues(t, "not_found_error", failure.Type())
}

func TestXAPIKeyAloneIsAccepted(t *testing.T) {
	client := newClient(option.WithHeaderDel("Authorization"), option.WithHeader("X-Api-Key", gatewayKey))
	_, err := client.Messages.New(t.Context(), ask("With x-api-key"))
	assert.NoError(t, err)
}

func TestProviderErrorsKeepStatusTypeAndRetryAfter(t *testing.T) {
	for prompt, c := range map[string]struct {
		status     int
		kind       anthropic.ErrorType
		retryAfter string
	}{
		"[[fault:429 retry-after=7]]": {http.StatusTooManyRequests, "rate_limit_error", "7"},
		"[[fault:529]]":               {529, "overloaded_error", ""},
		"[[fault:404]]":               {http.StatusNotFound, "not_found_error", ""},
	} {
		t.Run(prompt, func(t *testing.T) {
			client := newClient()
			_, plain := client.Messages.New(t.Context(), ask(prompt))
			_, streamed := accumulate(t, client, ask(prompt))
			for _, failure := range []*anthropic.Error{apiError(t, plain), apiError(t, streamed)} {
				assert.Equal(t, c.status, failure.StatusCode)
				assert.Equal(t, c.kind, failure.Type())
				assert.Equal(t, c.retryAfter, failure.Response.Header.Get("Retry-After"))
				assert.Regexp(t, requestID, failure.RequestID)
			}
		})
	}
}

// The wait that retry-after asks for is one second: long enough to be honoured,
// short enough to be waited for.
func TestClientRetriesWhatTheGatewaySaysIsTemporary(t *testing.T) {
	var sent wire
	client := newClient(option.WithMaxRetries(1), sent.option())
	_, err := client.Messages.New(t.Context(), ask("[[fault:429 retry-after=1]]"))
	assert.Equal(t, http.StatusTooManyRequests, apiError(t, err).StatusCode)
	assert.Equal(t, []string{"0", "1"}, sent.retryCounts())
}

// The last of these is a 5xx, which the client retries otherwise.
func TestClientDoesNotRetryWhatTheGatewaySaysIsFinal(t *testing.T) {
	for _, c := range []struct {
		key, prompt string
		status      int
	}{
		{"sk-wrong", "Let me in", http.StatusUnauthorized},
		{narrowKey, "Let me in", http.StatusForbidden},
		{gatewayKey, "[[fault:401]]", http.StatusBadGateway},
	} {
		var sent wire
		client := newClient(option.WithMaxRetries(1), option.WithAPIKey(c.key), sent.option())
		_, err := client.Messages.New(t.Context(), ask(c.prompt))
		failure := apiError(t, err)
		assert.Equal(t, c.status, failure.StatusCode)
		assert.Equal(t, "false", failure.Response.Header.Get("X-Should-Retry"))
		assert.Len(t, sent.retryCounts(), 1)
	}
}

// Claude Code shows a 404 as a model that does not exist.
func TestABaseURLWithTheVersionIsNamed(t *testing.T) {
	client := newClient(option.WithBaseURL(gatewayURL + "/v1/"))
	_, err := client.Messages.New(t.Context(), ask("Hi"))
	failure := apiError(t, err)
	assert.Equal(t, http.StatusBadRequest, failure.StatusCode)
	assert.Equal(t, "path: has /v1 twice; the base URL of this client must not end in /v1", failure.Message)
}

func TestStreamThatFailsMidwayIsNeverFinished(t *testing.T) {
	for _, fault := range []string{"cut", "no-finish", "error-event"} {
		t.Run(fault, func(t *testing.T) {
			message, err := accumulate(t, newClient(), ask("[[fault:"+fault+"]] Tell a story that breaks off"))
			failure := apiError(t, err)
			assert.NotEmpty(t, failure.Type())
			assert.NotEmpty(t, text(&message), "the text before the failure arrived")
			assert.Empty(t, message.StopReason)
		})
	}
}

func TestCancelledContextEndsTheStreamAndTheGatewayGoesOn(t *testing.T) {
	client := newClient()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := client.Messages.NewStreaming(ctx, ask("[[words:500]] Tell a story that nobody hears to its end"))
	for stream.Next() {
		if stream.Current().Type == "content_block_delta" {
			cancel()
		}
	}
	require.ErrorIs(t, stream.Err(), context.Canceled)
	message, err := client.Messages.New(t.Context(), ask("Still there?"))
	require.NoError(t, err)
	assert.Equal(t, anthropic.StopReasonEndTurn, message.StopReason)
}

func TestClosingAStreamEarlyIsNoError(t *testing.T) {
	client := newClient()
	stream := client.Messages.NewStreaming(t.Context(), ask("[[words:500]] Tell a story that nobody hears to its end"))
	require.True(t, stream.Next(), "the first event: %v", stream.Err())
	require.NoError(t, stream.Close())
	_, err := client.Messages.New(t.Context(), ask("Still there?"))
	assert.NoError(t, err)
}
