package translation_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// What Claude Code sends, without and with a system message in mid-conversation.
const (
	agentTurn = `{"model":"m","max_tokens":99,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":"hello"}]}`
	agentLate = `{"model":"m","max_tokens":99,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":"hello"},{"role":"system","content":"It is noon."}]}`
)

// startTemplate is a gateway before a provider of a preset whose model has a
// strict template.
func startTemplate(t *testing.T, w site.Way, preset string, lines ...string) (*site.Site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	p.Always(gatewaytest.StrictTemplate(gatewaytest.Answer()))
	return site.Start(t, w.Preset(preset, "p", p, lines...)), p
}

// Templates such as Qwen's refuse a system message that is not the first. Claude Code
// repeated the request for a minute without a message.
func TestLateSystemMessagesReachNoStrictTemplate(t *testing.T) {
	for _, preset := range []string{"vllm", "llamacpp", "ollama"} {
		t.Run(preset, func(t *testing.T) {
			site.EitherWay(t, func(t *testing.T, w site.Way) {
				t.Run("chat", func(t *testing.T) { testLateSystemTowardsChat(t, w, preset) })
				t.Run("messages", func(t *testing.T) { testLateSystemOnTheByteLane(t, w, preset) })
			})
		})
	}
}

func testLateSystemTowardsChat(t *testing.T, w site.Way, preset string) {
	s, p := startTemplate(t, w, preset, "format chat")
	answer := s.Ask(site.MessagesPath, agentLate)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, "messages.*.role", answer.Header.Get("X-Gateway-Dropped"))
	assertHolds(t, `{"messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":"hello\n\nIt is noon."}]}`,
		string(p.Requests()[0].Body))
}

func testLateSystemOnTheByteLane(t *testing.T, w site.Way, preset string) {
	s, p := startTemplate(t, w, preset)
	refused := s.Ask(site.MessagesPath, agentLate)
	assert.Equal(t, http.StatusBadRequest, refused.Status)
	assert.Equal(t, "messages.1.role: role 'system' is not supported on this model", refused.Failure(t).Message)
	assert.Equal(t, "mid_system", s.Record(refused.ID())["fault_trait"])
	assert.Zero(t, p.Count(), "nobody was asked")

	second := s.Ask(site.MessagesPath, agentTurn) // as Claude Code goes on
	require.Equal(t, http.StatusOK, second.Status, second.Body)
	assert.Equal(t, agentTurn, string(p.Requests()[0].Body))
}

// Other messages providers accept such messages, and requests that count tokens use no
// template.
func TestLateSystemMessagesPassWhereTheyMay(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, c := range []struct{ name, preset, line, path, body string }{
			{"the model takes them", "vllm", "mid_system keep", site.MessagesPath, agentLate},
			{"another preset", "openai_compatible", "format messages", site.MessagesPath, agentLate},
			{"a count", "vllm", "", site.MessagesPath + "/count_tokens", agentLate},
			{"in front", "vllm", "", site.MessagesPath, `{"model":"m","max_tokens":99,"messages":[{"role":"system","content":"First."},{"role":"user","content":"hello"}]}`},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				p.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(wholeMessage)))
				s := site.Start(t, w.Preset(c.preset, "p", p, c.line))
				s.Ask(c.path, c.body)
				require.Equal(t, 1, p.Count())
				assert.Equal(t, c.body, string(p.Requests()[0].Body))
			})
		}
	})
}
