package demo_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

const (
	messagesPath    = "/v1/messages"
	chatPath        = "/v1/chat/completions"
	completionsPath = "/v1/completions"
	responsesPath   = "/v1/responses"
	embeddingsPath  = "/v1/embeddings"
)

// caller calls one engine.
type caller struct {
	t         testing.TB
	transport http.RoundTripper
	base      string
}

// ways calls the engine through a socket and in-process. Every claim must be true for both.
func ways(t *testing.T, test func(*testing.T, *caller), options ...demo.Option) {
	t.Helper()
	fixed := []demo.Option{demo.WithPace(0), demo.WithClock(func() time.Time { return time.Unix(1_700_000_000, 0) })}
	engine := demo.New(append(fixed, options...)...)
	t.Run("socket", func(t *testing.T) {
		server := httptest.NewServer(engine)
		t.Cleanup(server.Close)
		t.Cleanup(server.CloseClientConnections)
		transport := &http.Transport{DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		test(t, &caller{t, transport, server.URL})
	})
	t.Run("in process", func(t *testing.T) {
		test(t, &caller{t, engine, "http://demo.invalid"})
	})
}

func (c *caller) request(ctx context.Context, method, path, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	if path == messagesPath || path == messagesPath+"/count_tokens" {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return r
}

func (c *caller) send(path, body string) *http.Response {
	c.t.Helper()
	response, err := c.transport.RoundTrip(c.request(c.t.Context(), http.MethodPost, path, body))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// body sends a request, and returns the body of an answer with a status.
func (c *caller) body(status int, path, body string) []byte {
	c.t.Helper()
	response := c.send(path, body)
	raw := c.read(response)
	require.Equal(c.t, status, response.StatusCode, "%s", raw)
	return raw
}

func (c *caller) read(response *http.Response) []byte {
	c.t.Helper()
	raw, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	return raw
}

// clients are how the clients of each path read answers.
var clients = map[string]client.Format{
	messagesPath: client.Messages, chatPath: client.Chat, completionsPath: client.Completions, responsesPath: client.Responses,
}

// whole returns the whole answer to a request, a stream if the request asks for one.
func (c *caller) whole(path, body string) client.Answer {
	c.t.Helper()
	response := c.send(path, body)
	raw := c.read(response)
	require.Equal(c.t, http.StatusOK, response.StatusCode, "%s", raw)
	read, contentType := clients[path].Parse, "application/json"
	if strings.Contains(body, `"stream":true`) {
		read, contentType = clients[path].Read, "text/event-stream; charset=utf-8"
	}
	require.Equal(c.t, contentType, response.Header.Get("Content-Type"))
	answer, err := read(raw)
	require.NoError(c.t, err)
	require.True(c.t, answer.Complete)
	return answer
}

func (c *caller) message(body string) *client.Message {
	c.t.Helper()
	m, err := c.whole(messagesPath, body).Message()
	require.NoError(c.t, err)
	return m
}

func (c *caller) completion(path, body string) *client.Completion {
	c.t.Helper()
	answer, err := c.whole(path, body).Completion()
	require.NoError(c.t, err)
	return answer
}

func (c *caller) response(body string) *client.Response {
	c.t.Helper()
	r, err := c.whole(responsesPath, body).Response()
	require.NoError(c.t, err)
	return r
}

// ask returns the body of a request with a prompt, for each format. more are further members,
// each of which begins with a comma.
func ask(path, prompt, more string) string {
	switch path {
	case messagesPath:
		return `{"model":"m1","max_tokens":1000,"messages":[{"role":"user","content":` + quote(prompt) + `}]` + more + `}`
	case chatPath:
		return `{"model":"m1","messages":[{"role":"user","content":` + quote(prompt) + `}]` + more + `}`
	case responsesPath:
		return `{"model":"m1","input":` + quote(prompt) + more + `}`
	default:
		return `{"model":"m1","prompt":` + quote(prompt) + more + `}`
	}
}

func TestMaxTokensCutsTheText(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		body := `{"model":"m1","max_tokens":3,"messages":[{"role":"user","content":"hi"}]`
		m := c.message(body + `}`)
		assert.Equal(t, "This is the", m.Text())
		assert.Equal(t, "max_tokens", m.StopReason)
		assert.Equal(t, 3, m.Usage.OutputTokens)
		s := c.message(body + `,"stream":true}`)
		assert.Equal(t, "This is the", s.Text())
		assert.Equal(t, "max_tokens", s.StopReason)

		for _, limit := range []string{"max_tokens", "max_completion_tokens"} {
			answer := c.completion(chatPath, ask(chatPath, "hi", `,"`+limit+`":3`))
			assert.Equal(t, "This is the", answer.Choices[0].Text)
			assert.Equal(t, "length", answer.Choices[0].Finish)
		}
		answer := c.completion(completionsPath, ask(completionsPath, "hi", `,"max_tokens":0,"echo":true`))
		assert.Equal(t, "hi", answer.Choices[0].Text)
		assert.Equal(t, "length", answer.Choices[0].Finish)
	})
}

func TestStopStringsEndTheText(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		m := c.message(ask(messagesPath, "hi", `,"stop_sequences":["nowhere","the demo"]`))
		assert.Equal(t, "This is ", m.Text())
		assert.Equal(t, "stop_sequence", m.StopReason)
		assert.Equal(t, "the demo", m.StopSequence)
		for _, path := range []string{chatPath, completionsPath} {
			answer := c.completion(path, ask(path, "hi", `,"stop":"the demo"`))
			assert.Equal(t, "This is ", answer.Choices[0].Text)
			assert.Equal(t, "stop", answer.Choices[0].Finish)
		}
	})
}

func TestSystemTextAndMediaAreCounted(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		m := c.message(`{"model":"m1","max_tokens":99,"system":[{"type":"text","text":"one two"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},
			{"role":"system","content":"three"}]}`)
		assert.Contains(t, m.Text(), "2 messages, a system prompt of 3 words, 1 attachment.")
		assert.Equal(t, 1504, m.Usage.InputTokens)
		answer := c.completion(chatPath, `{"model":"m1","messages":[{"role":"developer","content":"one two three"},
			{"role":"user","content":[{"type":"text","text":"look"},
			{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`)
		assert.Contains(t, answer.Choices[0].Text, "1 message, a system prompt of 3 words, 1 attachment.")
		assert.Equal(t, 1504, answer.Usage.PromptTokens)
	})
}

func TestCacheBreakpointsAreWrittenOnceAndReadLater(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		system := `{"model":"m1","max_tokens":99,"system":[{"type":"text","text":"one two","cache_control":{"type":"ephemeral"}}],`
		first := c.message(system + `"messages":[{"role":"user","content":"hi"}]}`)
		assert.Equal(t, 2, *first.Usage.CacheCreation)
		assert.Equal(t, 0, *first.Usage.CacheRead)
		assert.Equal(t, 1, first.Usage.InputTokens)
		later := c.message(system + `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"more"}]}`)
		assert.Equal(t, 0, *later.Usage.CacheCreation)
		assert.Equal(t, 2, *later.Usage.CacheRead)
		assert.Equal(t, 3, later.Usage.InputTokens)
	})
}
