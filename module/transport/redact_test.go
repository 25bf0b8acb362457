package transport

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// If the provider used the credential as the name of a member, the name was logged.
func TestLossesThatRepeatTheCredentialAreNotLogged(t *testing.T) {
	hide := redactor{credential: "correct_horse_battery"}
	var dropped translate.Dropped
	dropped.DropNamed("choices[*].", []byte("correct_horse_battery"))
	dropped.DropNamed("", []byte("timings"))
	losses := dropped.Losses()
	assert.Equal(t, "timings", hide.losses(losses).String())
	assert.Len(t, losses, 2, "the list of the parser is not changed")
}

// A failed answer with the credential in its message was replaced by an error body with the
// same message.
func TestAFailedAnswerThatRepeatsTheCredentialIsRedacted(t *testing.T) {
	const failed = `{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"bad key sk-secret-key"},"output":[]}`
	transport := newTransport(answers(func(*http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "application/json", io.NopCloser(strings.NewReader(failed))), nil
	}))
	setCredential(transport, "sk-secret-key")
	a := attemptFor(t, translate.Responses, false)
	a.Exchange.Request.View.Stream = false
	got := carry(t, transport, a)
	require.NotNil(t, got.Result.Head.Answer)
	assert.NotContains(t, string(got.Result.Head.Answer.Body), "sk-secret-key")
	assert.NotContains(t, got.Fault.Message, "sk-secret-key")
}

// A provider knows all keys of the gateway. If an answer to one key repeated another one, a
// header with it reached the client and the log.
func TestAnswersThatRepeatAnotherKeyOfTheProviderAreRedacted(t *testing.T) {
	transport := newTransport(answers(func(*http.Request) (*http.Response, error) {
		res := responds(http.StatusTooManyRequests, "application/json", io.NopCloser(strings.NewReader(`{"error":{"message":"not sk-other-key"}}`)))
		res.Header.Set("X-Request-Id", "sk-other-key")
		return res, nil
	}))
	setCredential(transport, "sk-secret-key")
	other := aigateway.Secret("sk-other-key")
	transport.credentials.keys = append(transport.credentials.keys[:1:1], atomic.Pointer[aigateway.Secret]{})
	transport.credentials.keys[1].Store(&other)
	got := carry(t, transport, attemptFor(t, translate.Chat, false))
	assert.Empty(t, got.Result.Head.RequestID)
	assert.NotContains(t, got.Fault.Message, "sk-other-key")
	assert.NotContains(t, string(got.Result.Head.Answer.Body), "sk-other-key")
}
