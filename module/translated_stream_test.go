package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// afterTranslated scripts the beginning of a stream of the provider's format,
// up to the text "Hi", and goes on with the step once the client has read it.
func (s stalling) afterTranslated(r translatedRoute, then gatewaytest.Step) reply {
	s.t.Helper()
	whole := strings.Join(streams[r.upstream], "")
	text := strings.Index(whole, "Hi")
	end := text + strings.Index(whole[text:], "\n\n") + len("\n\n")
	return s.afterContent(s.first, r.path, whole[:end], then)
}

// errorEnd is the error event that ends a stream.
func errorEnd(r translatedRoute, id, messagesKind, message, code string) string {
	if r.path == messagesPath {
		return "event: error\n" + `data: {"type":"error","error":{"type":"` + messagesKind + `","message":"` + message + `"},"request_id":"` + id + `"}` + "\n\n"
	}
	return `data: {"error":{"message":"` + message + `","type":"server_error","param":null,"code":"` + code + `"}}` + "\n\n"
}

func TestG084ATranslatedStreamThatBreaksOffEndsWithAnErrorEvent(t *testing.T) {
	const message = "the upstream closed the stream before completing the answer"
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		for name, then := range map[string]gatewaytest.Step{
			"in order":         more(),
			"in half an event": more(`data: {"choices":[{"index":0,"del`),
			"by a reset":       gatewaytest.Reset(),
		} {
			t.Run(name, func(t *testing.T) {
				whole := s.afterTranslated(r, then)
				require.NoError(t, whole.err, "the body ends in order")
				want := errorEnd(r, whole.id(), "api_error", message, "upstream_stream_truncated")
				assert.True(t, strings.HasSuffix(whole.body, want), whole.body)
				assertUnfinished(t, r, whole)
				assert.Equal(t, "cut", s.record(whole.id())["outcome"])
			})
		}
		assert.Zero(t, s.second.Count(), "no other target after content")
	})
}

// assertUnfinished demands that nothing in a stream says that it is complete.
func assertUnfinished(t *testing.T, r translatedRoute, whole reply) {
	t.Helper()
	seen := whole.read(t, r.path)
	assert.False(t, seen.complete)
	require.NotNil(t, seen.failure)
	assert.Equal(t, "Hi", seen.text)
	for _, end := range []string{"message_stop", "message_delta", "content_block_stop", "[DONE]", `"finish_reason":"`} {
		assert.NotContains(t, whole.body, end)
	}
}

func TestAnErrorEventOfTheProviderEndsTheTranslatedStream(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		rest := errorEvents[r.upstream] + strings.Join(streams[r.upstream][len(streams[r.upstream])-2:], "")
		whole := s.afterTranslated(r, more(rest))
		require.NoError(t, whole.err)
		assertUnfinished(t, r, whole)
		failure := whole.read(t, r.path).failure
		if r.upstream == messagesPath {
			assert.True(t, strings.HasSuffix(whole.body, errorEnd(r, whole.id(), "overloaded_error", "Overloaded", "overloaded")), whole.body)
		} else {
			assert.Equal(t, "The server had an error", failure.Message)
		}
		assert.NotContains(t, whole.body, "vendor", "nothing of the foreign body")
		assert.Equal(t, "cut", s.record(whole.id())["outcome"])
	})
}

func TestGarbageInATranslatedStreamEndsItWithAnErrorEvent(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		whole := s.afterTranslated(r, more("data: secret garbage\n\n", strings.Join(streams[r.upstream], "")))
		require.NoError(t, whole.err)
		assertUnfinished(t, r, whole)
		assert.NotContains(t, whole.body, "garbage")
	})
}

func TestKeepAlivesStandBetweenTranslatedEvents(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r, "keep_alive 5ms")
		plain := strings.Join(streams[r.upstream], "")
		middle := strings.Index(plain, "there") + 2 // in the middle of a word of an event
		s.first.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, plain[:middle]), gatewaytest.Stall(s.gate, more(plain[middle:]))))
		answer := s.open(r.path, bodyFor(r.path, "m", "hello", true))
		for !strings.Contains(answer.next(), "Hi") {
		}
		for range 2 {
			assert.Equal(t, keepAlives[r.path], answer.next())
		}
		s.gate.Open()
		seen := answer.rest().read(t, r.path)
		assert.True(t, seen.complete)
		assert.Equal(t, "Hi there", seen.text)
	})
}

func TestG106AJSONAnswerToAStreamingRequestIsReplayedAsAStream(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		body := bodyFor(r.path, "m", "hello [[fault:json]]", true)
		answer := s.ask(r.path, body)
		require.Equal(t, http.StatusOK, answer.status, answer.body)
		assert.Equal(t, "text/event-stream; charset=utf-8", answer.header.Get("Content-Type"))
		seen := answer.read(t, r.path)
		assert.True(t, seen.complete)
		assert.Contains(t, seen.text, "hello")
		assert.Equal(t, "answered", s.record(answer.id())["outcome"])
	})
}

func TestAnAnswerThatIsNoneMovesOnToTheNextTarget(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		nothing := streams[r.upstream][0]
		if r.upstream == completionsPath {
			nothing = ": hello\n\n" // the first event of this format has content
		}
		for name, step := range map[string]gatewaytest.Step{
			"an error in 200":   gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"error":{"message":"busy"}}`)),
			"half an answer":    gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"x","choices":[`)),
			"another object":    gatewaytest.Body(http.StatusOK, "application/json", []byte(`{}`)),
			"an error event":    gatewaytest.Chunks(gatewaytest.EventStream, errorEvents[r.upstream]),
			"events of nothing": gatewaytest.Chunks(gatewaytest.EventStream, nothing),
		} {
			for _, streaming := range []bool{false, true} {
				s.first.Script(step)
				answer := s.ask(r.path, bodyFor(r.path, "m", "hello", streaming))
				assert.Equal(t, http.StatusOK, answer.status, "%s %s", name, answer.body)
				assert.Equal(t, "second", s.record(answer.id())["provider"], name)
			}
		}
	})
}

func TestAClientThatLeavesATranslatedStreamEndsTheCall(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		s.first.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, streams[r.upstream][:len(streams[r.upstream])-2]...), gatewaytest.Stall(s.gate, more())))
		answer := s.open(r.path, bodyFor(r.path, "m", "hello", true))
		for !strings.Contains(answer.next(), "Hi") {
		}
		answer.cancel()
		assert.NoError(t, s.first.WaitCancelled(waiting(t)))
		assert.Equal(t, "client_closed", s.record(answer.Header.Get("X-Request-Id"))["outcome"])
		assert.Zero(t, s.second.Count())
	})
}
