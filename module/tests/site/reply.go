package site

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// Reply is an answer that was read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   string
	Err    error // of reading the body
}

// ReadReply reads an answer to its end and closes it.
func ReadReply(response *http.Response) Reply {
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, response.Header, string(raw), err}
}

// ID returns the id that the gateway gave to the request.
func (r Reply) ID() string { return r.Header.Get("X-Request-Id") }

// Failure parses an error body, of any format.
func (r Reply) Failure(t testing.TB) client.Failure {
	t.Helper()
	f, err := client.ParseFailure([]byte(r.Body))
	require.NoError(t, err, r.Body)
	return f
}

// RateLimits returns the rate limit headers of an answer.
func (r Reply) RateLimits() map[string]string {
	shown := make(map[string]string)
	for name, values := range r.Header {
		if strings.Contains(name, "Ratelimit") {
			shown[name] = strings.Join(values, "|")
		}
	}
	return shown
}

// AssertEnded checks how the connection of a stream that failed ends for a client of the path: in
// order, but for clients of GeminiPath, of which some take that for the end of the answer.
func (r Reply) AssertEnded(t testing.TB, path string) {
	t.Helper()
	assert.Equal(t, path == GeminiPath, r.Err != nil, "%v", r.Err)
}

// Clients are how the clients of each path read answers.
var Clients = map[string]client.Format{
	MessagesPath: client.Messages, ChatPath: client.Chat, CompletionsPath: client.Completions,
	ResponsesPath: client.Responses, GeminiPath: client.Gemini,
}

// Text returns the text of a JSON answer.
func (r Reply) Text(t testing.TB, path string) string {
	t.Helper()
	answer, err := Clients[path].Parse([]byte(r.Body))
	require.NoError(t, err, r.Body)
	return answer.Text()
}

// Read assembles a stream by the rules of the official clients. A failed stream of GeminiPath
// breaks off behind its last event.
func (r Reply) Read(t testing.TB, path string) client.Answer {
	t.Helper()
	answer, err := Clients[path].Read([]byte(r.Body))
	require.NoError(t, err, r.Body)
	require.Equal(t, path == GeminiPath && answer.Failure != nil, r.Err != nil, r.Body)
	return answer
}
