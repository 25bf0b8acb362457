package translation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The responses format has no stop texts. The gateway cut the answer, but the provider went on
// for thousands of tokens, for which the client waited up to usage_wait and paid.
func TestACallEndsAtAStopThatTheProviderDoesNotKnow(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format responses", "usage_wait 1h"))
		events := site.Streams[site.ResponsesPath]
		whole := strings.Join(events, "")
		before, _, _ := strings.Cut(whole, "event: response.output_text.done") // "Hi there" is in the deltas before
		for i, path := range []string{site.ChatPath, site.MessagesPath} {
			endless := gatewaytest.NewGate(t) // never opened: the provider goes on
			p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, before), gatewaytest.Stall(endless, gatewaytest.More())))
			body := `{"model":"m","stream":true,"stop":["ther"],"max_tokens":3000,"messages":[{"role":"user","content":"hello"}]}`
			if path == site.MessagesPath {
				body = strings.Replace(body, `"stop"`, `"stop_sequences"`, 1)
			}
			answer := s.Ask(path, body)
			seen := answer.Read(t, path)
			assert.True(t, seen.Complete)
			assert.Equal(t, "Hi ", seen.Text())
			assert.NoError(t, p.WaitCancelledN(site.Waiting(t), i+1))
			record := s.Record(answer.ID())
			assert.Equal(t, "answered", record["outcome"])
		}
	})
}
