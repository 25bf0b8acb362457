package demo_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/client"
)

// outcome is the result of a stream of any format.
type outcome struct {
	text     string
	finished bool // the stream has the last event of its format
	failure  *client.Failure
	usage    bool // it has counts
	err      error
}

// stream reads a stream, and returns its outcome.
func (c *caller) stream(path, prompt string) outcome {
	c.t.Helper()
	more := `,"stream":true`
	if path == chatPath || path == completionsPath {
		more += `,"stream_options":{"include_usage":true}`
	}
	response := c.send(path, ask(path, prompt, more))
	require.Equal(c.t, http.StatusOK, response.StatusCode)
	if path == messagesPath {
		m, err := client.ReadMessageStream(response.Body)
		return outcome{m.Text(), m.Complete, m.Failure, m.Usage.OutputTokens > 1, err}
	}
	if path == responsesPath {
		r, err := client.ReadResponseStream(response.Body)
		return outcome{r.Text(), r.Complete, r.Failure, r.Usage != nil && *r.Usage.InputTokens > 0, err}
	}
	a, err := client.ReadCompletionStream(response.Body)
	text := ""
	if len(a.Choices) > 0 {
		text = a.Choices[0].Text
	}
	return outcome{text, a.Complete, a.Failure, a.Usage != nil && a.Usage.PromptTokens > 0, err}
}

// each checks a claim for every format, through a socket and in-process.
func each(t *testing.T, claim func(*testing.T, *caller, string)) {
	t.Helper()
	ways(t, func(t *testing.T, c *caller) {
		for _, path := range paths {
			t.Run(path, func(t *testing.T) { claim(t, &caller{t, c.transport, c.base}, path) })
		}
	})
}

func TestFaultStatus(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		response := c.send(path, ask(path, "x [[fault:429 retry-after=7]]", `,"stream":true`))
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		assert.Equal(t, "7", response.Header.Get("Retry-After"))
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		f, err := client.ParseFailure(body)
		require.NoError(t, err)
		assert.Equal(t, "rate_limit_error", f.Type)
	})
}

// answer returns a JSON answer.
func (c *caller) answer(path, prompt, more string) map[string]any {
	c.t.Helper()
	response := c.send(path, ask(path, prompt, more))
	var body map[string]any
	require.NoError(c.t, json.NewDecoder(response.Body).Decode(&body))
	return body
}

func TestFaultNoSignature(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		content := c.answer(messagesPath, "x [[think]] [[fault:no-signature]]", "")["content"].([]any)[0].(map[string]any)
		assert.Equal(t, "thinking", content["type"])
		assert.NotEmpty(t, content["thinking"])
		assert.Empty(t, content["signature"])
		response := c.send(messagesPath, ask(messagesPath, "x [[think]] [[fault:no-signature]]", `,"stream":true`))
		m, err := client.ReadMessageStream(response.Body)
		require.NoError(t, err)
		assert.True(t, m.Complete)
		assert.NotEmpty(t, m.Content[0].Thinking)
		assert.Empty(t, m.Content[0].Signature)
	})
}

func TestFaultNoContent(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		assert.Empty(t, c.text(path, ask(path, "x [[fault:no-content]]", ""), false))
		o := c.stream(path, "x [[fault:no-content]]")
		require.NoError(t, o.err)
		assert.True(t, o.finished)
		assert.Empty(t, o.text)
	})
}

func TestFaultTooLong(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		failure := c.answer(path, "x [[fault:too-long]]", "")["error"].(map[string]any)
		assert.Equal(t, "invalid_request_error", failure["type"])
		if path == messagesPath {
			assert.Regexp(t, "^prompt is too long", failure["message"])
		} else {
			assert.Equal(t, "context_length_exceeded", failure["code"])
		}
	})
}

func TestFaultBurst(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		response := c.send(path, ask(path, "x [[fault:burst]] [[fault:error-event after=2]]", `,"stream":true`))
		piece := make([]byte, 1<<16)
		n, err := response.Body.Read(piece)
		if err != io.EOF {
			require.NoError(t, err)
		}
		assert.Contains(t, string(piece[:n]), "This")
		assert.Contains(t, string(piece[:n]), "overloaded", "the error is in the same piece as the text before it")
	})
}

func TestFaultReset(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		r := c.request(t.Context(), http.MethodPost, path, ask(path, "x [[fault:reset]]", ""))
		response, err := c.transport.RoundTrip(r)
		if !assert.Error(t, err) {
			_ = response.Body.Close()
		}
	})
}

func TestFaultCutBreaksAStreamOff(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:cut after=2]]")
		assert.ErrorIs(t, o.err, io.ErrUnexpectedEOF)
		assert.Equal(t, "This is", o.text)
		assert.False(t, o.finished)
	})
}

func TestFaultCutBreaksABodyOff(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		response := c.send(path, ask(path, "x [[fault:cut]]", ""))
		assert.Positive(t, response.ContentLength)
		body, err := io.ReadAll(response.Body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, int(response.ContentLength/2), len(body))
	})
}

func TestFaultStallEndsWithTheClient(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := c.request(ctx, http.MethodPost, path, ask(path, "x [[fault:stall after=1]]", `,"stream":true`))
		response, err := c.transport.RoundTrip(r)
		require.NoError(t, err)
		defer response.Body.Close()
		seen := make([]byte, 0, 4096)
		for !strings.Contains(string(seen), `This`) {
			n, err := response.Body.Read(seen[len(seen):cap(seen)])
			require.NoError(t, err)
			seen = seen[:len(seen)+n]
		}
		cancel()
		_, err = io.ReadAll(response.Body)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestFaultErrorEvent(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:error-event]]")
		require.NoError(t, o.err)
		assert.Equal(t, "This is the", o.text)
		assert.False(t, o.finished)
		require.NotNil(t, o.failure)
		assert.Contains(t, []string{"overloaded_error", "server_error", "response.failed"}, o.failure.Type)
	})
}

func TestTheCodeOfAnErrorEventCanBeChosen(t *testing.T) {
	ways(t, func(t *testing.T, c *caller) {
		o := c.stream(chatPath, "x [[fault:error-event code=rate_limit_exceeded]]")
		require.NotNil(t, o.failure)
		assert.Equal(t, "rate_limit_exceeded", o.failure.Code)
	})
}

func TestFaultErrorEventAsABody(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		for _, fault := range []string{"error-event", "first-event-error"} {
			f, err := client.ParseFailure(c.body(http.StatusOK, path, ask(path, "x [[fault:"+fault+"]]", "")))
			require.NoError(t, err)
			assert.NotEmpty(t, f.Message)
		}
	})
}

func TestFaultFirstEventError(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:first-event-error]]")
		require.NoError(t, o.err)
		assert.Empty(t, o.text)
		require.NotNil(t, o.failure)
	})
}

func TestFaultGarbage(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:garbage]]")
		assert.ErrorContains(t, o.err, "half an ev")
		assert.False(t, json.Valid(c.body(http.StatusOK, path, ask(path, "x [[fault:garbage]]", ""))))
	})
}

func TestFaultHTML(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		for prompt, status := range map[string]int{"[[fault:html]]": 502, "[[fault:html status=200]]": 200} {
			response := c.send(path, ask(path, prompt, ""))
			assert.Equal(t, status, response.StatusCode)
			assert.Equal(t, "text/html", response.Header.Get("Content-Type"))
		}
	})
}

func TestFaultEmptyBody(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		assert.Empty(t, c.body(http.StatusOK, path, ask(path, "[[fault:empty-body]]", "")))
	})
}

func TestFaultNoDoneLeavesOutOnlyTheEnd(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:no-done]]")
		require.NoError(t, o.err)
		assert.Contains(t, o.text, "1 message.")
		assert.False(t, o.finished)
		assert.Equal(t, path != responsesPath, o.usage, "the last event of responses has the usage")
	})
}

func TestFaultNoFinishLeavesOutTheFinishToo(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:no-finish]]")
		require.NoError(t, o.err)
		assert.Contains(t, o.text, "1 message.")
		assert.False(t, o.finished)
		assert.False(t, o.usage)
	})
}

func TestFaultNoUsage(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:no-usage]]")
		require.NoError(t, o.err)
		assert.True(t, o.finished)
		assert.False(t, o.usage)
	})
}

func TestSlowFaultsStillAnswer(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:slow-first=2ms]] [[fault:slow-headers=2ms]]")
		require.NoError(t, o.err)
		assert.True(t, o.finished)
	})
}

func TestASilentAnswerEndsWithTheClient(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		for _, fault := range []string{"slow-headers=1h", "slow-first=1h", "stall"} {
			ctx, cancel := context.WithCancel(t.Context())
			r := c.request(ctx, http.MethodPost, path, ask(path, "x [[fault:"+fault+"]]", ""))
			cancel()
			_, err := c.transport.RoundTrip(r)
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

func TestFaultGzip(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		for _, more := range []string{"", `,"stream":true`} {
			response := c.send(path, ask(path, "x [[fault:gzip]]", more))
			assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"))
			plain, err := gzip.NewReader(response.Body)
			require.NoError(t, err)
			text, err := io.ReadAll(plain)
			require.NoError(t, err)
			assert.Contains(t, string(text), "This")
		}
	})
}

func TestFaultCRLF(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		body := string(c.body(http.StatusOK, path, ask(path, "x [[fault:crlf]]", `,"stream":true`)))
		assert.Equal(t, strings.Count(body, "\n"), strings.Count(body, "\r\n"))
		assert.True(t, strings.HasSuffix(body, "\r\n\r\n"))
		o := c.stream(path, "x [[fault:crlf]]")
		require.NoError(t, o.err)
		assert.True(t, o.finished)
	})
}

func TestFaultJSONAnswersAStreamWithABody(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		response := c.send(path, ask(path, "x [[fault:json]]", `,"stream":true`))
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		var body map[string]any
		require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
		assert.Contains(t, body, "usage")
	})
}

// A fault at a position after the end of a short answer happens at its end.
func TestALateFaultStrikesBeforeTheFinish(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[fault:cut after=500]]")
		assert.ErrorIs(t, o.err, io.ErrUnexpectedEOF)
		assert.Contains(t, o.text, "1 message.")
	})
}

func TestWordsMakeALongAnswer(t *testing.T) {
	each(t, func(t *testing.T, c *caller, path string) {
		o := c.stream(path, "x [[words:300]]")
		require.NoError(t, o.err)
		assert.Contains(t, o.text, "word1 word2")
		assert.Contains(t, o.text, "word300")
	})
}
