package module_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// counted is a chat answer whose provider says that the prompt had so many tokens.
func counted(tokens int) gatewaytest.Step {
	return gatewaytest.Body(http.StatusOK, "application/json", fmt.Appendf(nil,
		`{"id":"c","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d}}`, tokens, tokens+1))
}

// estimated is the count of tokens that the gateway makes up for a model.
func (s *site) estimated(model, prompt string) int {
	s.t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, model, prompt)
	answer := s.ask(messagesPath+"/count_tokens", body)
	require.Equal(s.t, http.StatusOK, answer.status, answer.body)
	assert.Equal(s.t, "true", answer.header.Get("X-Gateway-Estimate"))
	var count struct {
		Tokens int `json:"input_tokens"`
	}
	require.NoError(s.t, json.Unmarshal([]byte(answer.body), &count))
	return count.Tokens
}

func TestEstimatesLearnFromWhatProvidersCount(t *testing.T) {
	prompt := strings.Repeat("12345678", 1000)
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		config := func(lines ...string) string {
			return siteBlock("", append(lines, w.provider("p", p, "format chat", "estimate_input_tokens on"))...)
		}
		s := startCaddyfile(t, config()).persistently()
		assert.Equal(t, 2000, s.estimated("m", prompt), "4 bytes a token as long as nothing is known")
		for _, streaming := range []bool{false, true, false, true, false, true, false, true} {
			p.Script(counted(4000))
			assert.Equal(t, http.StatusOK, s.ask(messagesPath, bodyFor(messagesPath, "m", prompt, streaming)).status)
		}
		learned := s.estimated("m", prompt)
		assert.InDelta(t, 4000, learned, 50)
		assert.Equal(t, 2000, s.estimated("other", prompt))
		assert.Equal(t, 1, s.estimated("m", ""), "never below 1")

		require.NoError(t, s.Reload(config("max_body 1MiB")))
		assert.Equal(t, learned, s.estimated("m", prompt), "a reload forgets nothing")
		for _, nonsense := range []int{0, 1, 999, 8001, 1 << 40} {
			p.Script(counted(nonsense))
			s.ask(messagesPath, bodyFor(messagesPath, "m", prompt, false))
			assert.Equal(t, learned, s.estimated("m", prompt))
		}

		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath]...))
		begin := s.ask(messagesPath, bodyFor(messagesPath, "m", prompt, true)).body
		assert.Contains(t, begin, fmt.Sprintf(`"input_tokens":%d`, learned), "what a stream begins with")
	})
}

// A provider of the messages format that turns out not to count is learned from
// as well.
func TestEstimatesLearnWhereTheProviderLacksTheEndpoint(t *testing.T) {
	prompt := strings.Repeat("12345678", 1000)
	answer := gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"x",`+
		`"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1000,"cache_read_input_tokens":3000,"output_tokens":1}}`))
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		ask := func() {
			p.Script(answer)
			assert.Equal(t, http.StatusOK, s.ask(messagesPath, bodyFor(messagesPath, "m", prompt, false)).status)
		}
		ask()
		p.Script(gatewaytest.Status(http.StatusNotFound))
		assert.Equal(t, 2000, s.estimated("m", prompt), "nobody needed to know before")
		for range 8 {
			ask()
		}
		p.Script(gatewaytest.Status(http.StatusNotFound))
		assert.InDelta(t, 4000, s.estimated("m", prompt), 50)
	})
}

// Of media the size says nothing (wire format C.8).
func TestG119EstimatesCountMediaByTheirNumber(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p, "format chat"))
		payload := strings.Repeat("A", 3<<20)
		block := func(kind, media string) string {
			return fmt.Sprintf(`{"type":%q,"source":{"type":"base64","media_type":%q,"data":%q}}`, kind, media, payload)
		}
		for media, want := range map[string]int{
			"":                          2,
			block("image", "image/png"): 1502,
			block("image", "image/png") + "," + block("image", "image/png"): 3002,
			block("document", "application/pdf"):                            3002,
		} {
			content := strings.TrimSuffix(`{"type":"text","text":"12345"},`+media, ",")
			answer := s.ask(messagesPath+"/count_tokens", `{"model":"m","messages":[{"role":"user","content":[`+content+`]}]}`)
			assert.Equal(t, fmt.Sprintf(`{"input_tokens":%d}`, want), answer.body)
			assert.Equal(t, "true", answer.header.Get("X-Gateway-Estimate"))
		}
		assert.Zero(t, p.Count(), "nobody is asked")
	})
}
