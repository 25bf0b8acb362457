package translation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The error of a full context once had the provider's words. Clients shorten their
// conversation only after the words of their own vendor.
func TestAFullContextIsWordedAsClientsKnowIt(t *testing.T) {
	const sentence = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
	failure := `{"error":{"code":400,"message":"` + sentence + `","type":"exceed_context_size_error","n_ctx":4096}}`
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		event := "data: " + failure + "\n\n"
		if r.Upstream == site.MessagesPath {
			event = "event: error\n" + event
		}
		for name, step := range map[string]gatewaytest.Step{
			"by a status":      gatewaytest.Body(http.StatusBadRequest, "application/json", []byte(failure)),
			"by a first event": gatewaytest.Chunks(gatewaytest.EventStream, event),
		} {
			s.First.Script(step)
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
			require.Equal(t, http.StatusBadRequest, answer.Status, "%s: %s", name, answer.Body)
			switch {
			case r.Path == site.MessagesPath:
				assert.Contains(t, answer.Body, `{"type":"invalid_request_error","message":"prompt is too long: `+sentence+`"`, name)
			case r.Path == site.GeminiPath:
				assert.Contains(t, answer.Body, `"message":"The input token count exceeds the maximum number of tokens allowed: `+sentence, name)
			case r.IsBytes() && name == "by a status":
				assert.Equal(t, failure, answer.Body, "a client of the format gets the provider's bytes")
			default:
				assert.Contains(t, answer.Body, `"message":"`+sentence+`","type":"invalid_request_error","param":null,"code":"context_length_exceeded"`, name)
			}
		}
		begin := site.Streams[r.Upstream]
		s.First.Script(gatewaytest.Chunks(gatewaytest.EventStream, strings.Join(begin[:len(begin)-3], ""), event))
		whole := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
		assert.Contains(t, whole.Body, sentence)
		if r.Path == site.MessagesPath {
			assert.Contains(t, whole.Body, `"prompt is too long: `)
		}
	})
}

// A completions client got 502 for an answer that speaks of calls and makes none.
func TestAnAnswerThatOnlySpeaksOfCallsEndsForAllClients(t *testing.T) {
	answers := map[string]string{
		site.MessagesPath: `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Hi"}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
		site.ChatPath:     `{"id":"c1","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[]},"finish_reason":"tool_calls"}]}`,
	}
	ends := map[string]string{site.MessagesPath: `"stop_reason":"end_turn"`, site.ChatPath: `"finish_reason":"stop"`, site.CompletionsPath: `"finish_reason":"stop"`}
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		if answers[r.Upstream] == "" {
			return
		}
		for _, stream := range []bool{false, true} { // the gateway replays a JSON answer as a stream
			s.First.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(answers[r.Upstream])))
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", stream))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, "Hi", answerText(t, answer, r.Path, stream))
			assert.Contains(t, answer.Body, ends[r.Path])
		}
	})
}

// The tool calls of a messages stream were remembered without a bound.
func TestAStreamOfTooManyToolCallsFails(t *testing.T) {
	var calls strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&calls, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"f\",\"input\":{}}}\n\n"+
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", i, i, i)
	}
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		r := site.NewLane(translate.Chat, translate.Messages)
		s := startTranslated(t, w, r)
		s.First.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.MessagesPath][0], calls.String()))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "1", "hello", true))
		require.Equal(t, http.StatusOK, answer.Status)
		assert.Contains(t, answer.Body, `"code":"upstream_invalid_response"`)
		assert.NotContains(t, answer.Body, "[DONE]")
		assert.Equal(t, 4096, strings.Count(answer.Body, `"type":"function"`))
	})
}

// Sums of counts went beyond what clients can read exactly.
func TestTotalsOfUsageAreNumbersThatClientsCanRead(t *testing.T) {
	const absurd = `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[],"stop_reason":"end_turn","usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"output_tokens":9223372036854775807}}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		r := site.NewLane(translate.Chat, translate.Messages)
		s := startTranslated(t, w, r)
		s.First.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(absurd)))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "1", "hello", false))
		assert.Contains(t, answer.Body, `"prompt_tokens":9007199254740992,"completion_tokens":9007199254740992,"total_tokens":9007199254740992,`)
	})
}
