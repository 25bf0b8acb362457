package access_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestX112AWebhookThatHangsBlocksOrPasses(t *testing.T) {
	// It waits for its caller to leave. It once answered the first request, which failed where 50 ms
	// were too short for an answer.
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(service.Close)
	for onError, status := range map[string]int{"block": http.StatusServiceUnavailable, "pass": http.StatusOK} {
		t.Run(onError, func(t *testing.T) {
			s, _ := guarded(t, "guard hook webhook {\nurl "+service.URL+"\non_error "+onError+"\ntimeout 50ms\non request\n}")
			answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "private words", false))
			assert.Equal(t, status, answer.Status, answer.Body)
			if onError == "block" {
				assert.Contains(t, answer.Failure(t).Message, "the guard 'hook' cannot check the content right now")
			} else {
				s.EntryWhere(func(e map[string]any) bool { return e["msg"] == "content was not checked" && e["guard"] == "hook" })
				assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/metrics"), "").Body, `caddy_ai_gateway_guard_verdicts_total{guard="hook",verdict="unchecked"} 1`)
			}
			s.AssertNoEntry("private words")
		})
	}
}

func TestAGuardOfToolsChecksRequestsAndAnswers(t *testing.T) {
	s, p := guarded(t, "guard tools tools {\nallow read_*\n}")
	tool := func(name string) string {
		return `{"model":"m","messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"` + name + `"}}]}`
	}
	answer := s.Ask(site.ChatPath, tool("write_file"))
	assert.Equal(t, http.StatusBadRequest, answer.Status)
	assert.Contains(t, answer.Failure(t).Message, "guard 'tools', rule 'allow'")
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`).Status)
	assert.Zero(t, p.Count())
	for name, status := range map[string]int{"read_file": http.StatusOK, "write_file": http.StatusBadRequest} {
		p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"`+name+`","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)))
		assert.Equal(t, status, s.Ask(site.ChatPath, tool("read_file")).Status, name)
	}
}

func TestContentsAreLoggedByChoice(t *testing.T) {
	const logger = "http.handlers.ai_gateway.content"
	log := "log_content {\nmodels logged-*\nredact pii\nmax_size 60B\n}"
	s, p := guarded(t, "guard pii regex {\nblock card\nmodels nothing\n}", log)
	content := func(id string) (sides []string) {
		for _, side := range []string{"request", "answer"} {
			entry := s.EntryWhere(func(e map[string]any) bool {
				return e["logger"] == logger && e["request_id"] == id && e["msg"] == side+" content"
			})
			sides = append(sides, fmt.Sprint(entry["texts"]))
		}
		return sides
	}
	for _, path := range site.CallPaths {
		script(p, path, "the card "+card, " is yours")
		answer := s.Ask(path, site.BodyFor(path, "logged-m", "my card "+card, true))
		require.Equal(t, http.StatusOK, answer.Status)
		assert.Contains(t, answer.Body, card, "the log changes nothing")
		got := content(answer.ID())
		assert.Contains(t, got[0], "my card [card]")
		assert.Contains(t, got[1], "the card [card] is yours")
	}
	long := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "logged-m", strings.Repeat("é", 100), false))
	assert.Contains(t, content(long.ID())[0], "text:"+strings.Repeat("é", 30)+"…")
	other := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "whispered words", false))
	s.Record(other.ID())
	s.AssertNoEntry("whispered")
	s.AssertNoEntry("1111 1111")
}

// Of a stream whose client had left before its end, nothing was logged, so that a client could keep
// what it had got out of the log. What guards have not passed yet, it has not got.
func TestWhatAClientHasGotBeforeItLeavesIsLogged(t *testing.T) {
	const piece, pieces = 500, 10
	for name, guards := range map[string][]string{"logged": nil, "checked": {"guard pii regex {\nblock card\non answer\n}"}} {
		t.Run(name, func(t *testing.T) {
			s, p := guarded(t, append(guards, "log_content {\nkeys client\n}")...)
			chunks := make([]string, pieces)
			for i := range chunks {
				chunks[i] = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", piece) + "\"}}]}\n\n"
			}
			p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, chunks...), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.More("data: [DONE]\n\n"))))
			stream := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "go", true))
			stream.NextUntil(strings.Repeat("x", piece))
			stream.Cancel()
			entry := s.EntryWhere(func(e map[string]any) bool { return e["msg"] == "answer content" })
			got := strings.Count(fmt.Sprint(entry["texts"]), "x")
			assert.GreaterOrEqual(t, got, piece)
			if guards != nil {
				assert.Less(t, got, piece*pieces, "the end waits for what follows")
			}
		})
	}
}
