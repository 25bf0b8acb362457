package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestG084ATranslatedStreamThatBreaksOffEndsWithAnErrorEvent(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for name, then := range map[string]gatewaytest.Step{
			"in order":         gatewaytest.More(),
			"in half an event": gatewaytest.More(`data: {"choices":[{"index":0,"del`),
			"by a reset":       gatewaytest.Reset(),
		} {
			t.Run(name, func(t *testing.T) {
				whole := afterTranslated(s, r, then)
				whole.AssertEnded(t, r.Path)
				site.Truncated.AssertEnds(t, r.Path, whole)
				assertUnfinished(t, r, whole)
				assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
			})
		}
		assert.Zero(t, s.Second.Count(), "no other target after content")
	})
}

func TestAnErrorEventOfTheProviderEndsTheTranslatedStream(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		rest := site.ErrorEvents[r.Upstream] + strings.Join(site.Streams[r.Upstream][len(site.Streams[r.Upstream])-2:], "")
		whole := afterTranslated(s, r, gatewaytest.More(rest))
		whole.AssertEnded(t, r.Path)
		assertUnfinished(t, r, whole)
		failure := whole.Read(t, r.Path).Failure
		if r.Upstream == site.MessagesPath {
			explained(translatedStatuses[529], "Overloaded", "").AssertEnds(t, r.Path, whole)
		} else {
			assert.Equal(t, "The server had an error", failure.Message)
		}
		assert.NotContains(t, whole.Body, "vendor", "nothing of the foreign body")
		assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
	})
}

func TestGarbageInATranslatedStreamEndsItWithAnErrorEvent(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		whole := afterTranslated(s, r, gatewaytest.More("data: secret garbage\n\n", strings.Join(site.Streams[r.Upstream], "")))
		whole.AssertEnded(t, r.Path)
		assertUnfinished(t, r, whole)
		assert.NotContains(t, whole.Body, "garbage")
	})
}

func TestKeepAlivesComeBetweenTranslatedEvents(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		plain := strings.Join(site.Streams[r.Upstream], "")
		middle := strings.Index(plain, "there") + 2 // in the middle of a word of an event
		s.First.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, plain[:middle]), gatewaytest.Stall(s.Gate, gatewaytest.More(plain[middle:]))))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		answer.NextUntil(`"Hi"`)
		for range 2 {
			event := answer.Next()
			assert.True(t, site.IsKeepAlive(r.Path, event), event)
		}
		s.Gate.Open()
		seen := answer.Rest().Read(t, r.Path)
		assert.True(t, seen.Complete)
		assert.Equal(t, "Hi there", seen.Text())
	}, "keep_alive 5ms")
}

func TestG106AJSONAnswerToAStreamingRequestIsReplayedAsAStream(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		body := site.BodyFor(r.Path, "m", "hello [[fault:json]]", true)
		answer := s.Ask(r.Path, body)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, "text/event-stream; charset=utf-8", answer.Header.Get("Content-Type"))
		seen := answer.Read(t, r.Path)
		assert.True(t, seen.Complete)
		assert.Contains(t, seen.Text(), "hello")
		assert.Equal(t, "answered", s.Record(answer.ID())["outcome"])
	})
}

func TestAnAnswerThatIsNoneMovesOnToTheNextTarget(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		nothing := site.Streams[r.Upstream][0]
		if r.Upstream == site.CompletionsPath {
			nothing = ": hello\n\n" // the first event of this format has content
		}
		for name, step := range map[string]gatewaytest.Step{
			"an error in 200":   gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"error":{"message":"busy"}}`)),
			"half an answer":    gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"x","choices":[`)),
			"another object":    gatewaytest.Body(http.StatusOK, "application/json", []byte(`{}`)),
			"an error event":    gatewaytest.Chunks(gatewaytest.EventStream, site.ErrorEvents[r.Upstream]),
			"events of nothing": gatewaytest.Chunks(gatewaytest.EventStream, nothing),
		} {
			for _, streaming := range []bool{false, true} {
				s.First.Script(step)
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "m", "hello", streaming))
				assert.Equal(t, http.StatusOK, answer.Status, "%s %s", name, answer.Body)
				assert.Equal(t, "second", s.Record(answer.ID())["provider"], name)
			}
		}
	})
}

func TestAClientThatLeavesATranslatedStreamEndsTheCall(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		s.First.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[r.Upstream][:len(site.Streams[r.Upstream])-2]...), gatewaytest.Stall(s.Gate, gatewaytest.More())))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		answer.NextUntil(`"Hi"`)
		answer.Cancel()
		assert.NoError(t, s.First.WaitCancelled(site.Waiting(t)))
		assert.Equal(t, "client_closed", s.Record(answer.Header.Get("X-Request-Id"))["outcome"])
		assert.Zero(t, s.Second.Count())
	})
}
