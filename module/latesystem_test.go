package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// What Claude Code sends, without and with a system message in mid-conversation.
const (
	agentTurn = `{"model":"m","max_tokens":99,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":"hello"}]}`
	agentLate = `{"model":"m","max_tokens":99,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":"hello"},{"role":"system","content":"It is noon."}]}`
)

// startTemplate is a gateway before a provider of a preset whose model has a
// strict template.
func startTemplate(t *testing.T, w way, preset string, lines ...string) (*site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.StrictTemplate(gatewaytest.Answer()))
	return startSite(t, strings.Replace(w.provider("p", p, lines...), " vllm ", " "+preset+" ", 1)), p
}

// Templates of Qwen and others refuse a system message that is not the first, and
// Claude Code retried their errors for a minute without a word.
func TestLateSystemMessagesReachNoStrictTemplate(t *testing.T) {
	for _, preset := range []string{"vllm", "llamacpp", "ollama"} {
		t.Run(preset, func(t *testing.T) {
			eachWay(t, func(t *testing.T, w way) {
				t.Run("chat", func(t *testing.T) { testLateSystemTowardsChat(t, w, preset) })
				t.Run("messages", func(t *testing.T) { testLateSystemOnTheByteLane(t, w, preset) })
			})
		})
	}
}

func testLateSystemTowardsChat(t *testing.T, w way, preset string) {
	s, p := startTemplate(t, w, preset, "format chat")
	answer := s.ask(messagesPath, agentLate)
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	assert.Equal(t, "messages.*.role", answer.header.Get("X-Gateway-Dropped"))
	assertHolds(t, `{"messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":"hello\n\nIt is noon."}]}`,
		string(p.Requests()[0].Body))
}

func testLateSystemOnTheByteLane(t *testing.T, w way, preset string) {
	s, p := startTemplate(t, w, preset)
	refused := s.ask(messagesPath, agentLate)
	assert.Equal(t, http.StatusBadRequest, refused.status)
	assert.Equal(t, "messages.1.role: role 'system' is not supported on this model", refused.failure(t).Message)
	assert.Equal(t, "mid_system", s.record(refused.id())["fault_trait"])
	assert.Zero(t, p.Count(), "nobody was asked")

	again := s.ask(messagesPath, agentTurn) // as Claude Code goes on
	require.Equal(t, http.StatusOK, again.status, again.body)
	assert.Equal(t, agentTurn, string(p.Requests()[0].Body))
}

// Only those who say so refuse: other providers of messages take them, and a
// count has no template.
func TestLateSystemMessagesPassWhereTheyMay(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, c := range []struct{ name, preset, line, path, body string }{
			{"the model takes them", "vllm", "mid_system keep", messagesPath, agentLate},
			{"another preset", "openai_compatible", "format messages", messagesPath, agentLate},
			{"a count", "vllm", "", messagesPath + "/count_tokens", agentLate},
			{"in front", "vllm", "", messagesPath, `{"model":"m","max_tokens":99,"messages":[{"role":"system","content":"First."},{"role":"user","content":"hello"}]}`},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(wholeMessage)))
				s := startSite(t, strings.Replace(w.provider("p", p, c.line), " vllm ", " "+c.preset+" ", 1))
				s.ask(c.path, c.body)
				require.Equal(t, 1, p.Count())
				assert.Equal(t, c.body, string(p.Requests()[0].Body))
			})
		}
	})
}
