package translation_test

import (
	"encoding/json"
	"net/http"
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

// Stop sequences of only white space are not sent to messages providers, so the gateway
// itself must bound their number. Two million of them in 15 KB of gzip once occupied a
// processor during the whole answer.
func TestStopsThatTheGatewayEnforcesAreBounded(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "format messages"))
		ask := func(path string, stops ...string) site.Reply {
			list, _ := json.Marshal(stops)
			return s.Ask(path, strings.TrimSuffix(site.BodyFor(path, "m", "hello", true), "}")+`,"stop":`+string(list)+"}")
		}
		same, different := make([]string, 2_000_000), make([]string, 65)
		for i := range same {
			same[i] = "\t"
		}
		for i := range different {
			different[i] = strings.Repeat("\t", i+1)
		}
		for _, path := range []string{site.ChatPath, site.CompletionsPath} {
			assert.Equal(t, http.StatusOK, ask(path, same...).Status, path)
			assert.NotContains(t, p.LastJSON(t), "stop_sequences")
			refused := ask(path, different...)
			assert.Equal(t, http.StatusBadRequest, refused.Status)
			assert.Contains(t, refused.Body, `"param":"stop","code":"unsupported_for_upstream"`)
		}
		assert.Equal(t, 2, p.Count())
	})
}
