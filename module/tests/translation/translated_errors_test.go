package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestTheStatusOfAProviderIsAnsweredInTheClientsFormat(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for status, want := range translatedStatuses {
			for _, streaming := range []bool{false, true} {
				s.First.Script(gatewaytest.Status(status, "Retry-After", "7", "X-Ratelimit-Remaining-Requests", "0", "Request-Id", "req_vendor"))
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", streaming))
				want.Message, want.Final = answer.Failure(t).Message, onAccount[status].Final
				want.Assert(t, r.Path, answer)
				assert.Equal(t, map[bool]string{false: "7"}[onAccount[status].Final], answer.Header.Get("Retry-After"))
				assert.Equal(t, "req_vendor", answer.Header.Get("X-Upstream-Request-Id"))
				assert.Empty(t, answer.Header.Get("X-Ratelimit-Remaining-Requests"))
				assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])
			}
		}
	})
}

func TestG125TranslatedTargetsFailingAfterTheCommitAreOneErrorEvent(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		s.Second.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		assert.Equal(t, http.StatusOK, answer.StatusCode)
		assert.True(t, site.IsKeepAlive(r.Path, answer.Next()))
		s.Gate.Open()
		whole := answer.Rest()
		whole.AssertEnded(t, r.Path)
		explained(translatedStatuses[503], "scripted error", "").AssertAfter(t, r.Path, "", whole)
		assert.False(t, strings.HasSuffix(whole.Body, site.KeepAlives[r.Path]+"\n"), "nothing after it")
	}, "commit_after 1ms", "keep_alive 5ms")
}

func TestG124PingsThenTheSecondTranslatedTargetInOneResponse(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		s.First.Always(gatewaytest.Stall(s.Gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
		for range 3 {
			assert.True(t, site.IsKeepAlive(r.Path, answer.Next()))
		}
		s.Gate.Open()
		whole := answer.Rest()
		seen := whole.Read(t, r.Path) // a second message_start would fail here
		assert.True(t, seen.Complete)
		assert.Contains(t, seen.Text(), "hello")
		assert.Equal(t, "second", s.Record(whole.ID())["provider"])
	}, "commit_after 1ms", "keep_alive 5ms")
}

// Responses clients got comments while the provider was silent. Codex counts only events, and
// gave up after 300 seconds a server that was still processing the prompt.
func TestASilentProviderIsBridgedByEventsForResponsesClients(t *testing.T) {
	for _, c := range []struct {
		name, first string
		bridged     bool
	}{
		{"translated", "format chat", true},
		{"a target of the byte lane", "format responses", false}, // its events could not continue those of the gateway
	} {
		t.Run(c.name, func(t *testing.T) {
			site.EachWay(t, func(t *testing.T, w site.Way) {
				first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
				s := site.Start(t, "commit_after 1ms", "keep_alive 5ms", site.Steady,
					w.Provider("first", first, c.first, "models 1"), w.Provider("second", second, "format messages", "models 2"),
					"model m {\nto first/vendor-m\nto second/vendor-m\n}")
				for _, fails := range []bool{false, true} {
					gate := gatewaytest.NewGate(t)
					first.Script(gatewaytest.Stall(gate, gatewaytest.Status(http.StatusServiceUnavailable)))
					if fails {
						second.Script(gatewaytest.Status(http.StatusServiceUnavailable))
					}
					answer := s.Open(site.ResponsesPath, site.BodyFor(site.ResponsesPath, "m", "hello", true))
					for range 4 {
						assert.Equal(t, c.bridged, site.IsBridge(answer.Next()))
					}
					gate.Open()
					whole := answer.Rest()
					seen := whole.Read(t, site.ResponsesPath) // reads the numbers and the ids of all events strictly
					assert.Equal(t, !fails, seen.Complete)
					assert.Equal(t, fails, seen.Failure != nil)
					assert.Equal(t, 1, strings.Count(whole.Body, "event: response.created"))
				}
			})
		})
	}
}
