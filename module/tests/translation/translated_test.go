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
)

func TestATranslatedRequestIsAnsweredInTheClientsFormat(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for _, streaming := range []bool{false, true} {
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "m", "hello", streaming))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Contains(t, answerText(t, answer, r.Path, streaming), "hello")
			if streaming {
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.Header.Get("Content-Type"))
				assert.True(t, answer.Read(t, r.Path).Complete)
			} else {
				assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
			}
			assert.Regexp(t, `"model(Version)?":"vendor-m"`, answer.Body, "the model that answered")
			assert.Equal(t, "m", answer.Header.Get("X-Gateway-Model"))
			record := s.Record(answer.ID())
			assert.Equal(t, "answered", record["outcome"])
			assert.Equal(t, "vendor-m", record["answered_by"])
			assert.NotZero(t, record["usage.output_tokens"])
		}
		for _, path := range s.First.Paths() {
			assert.Equal(t, r.Upstream, site.Called(path))
		}
		assert.Zero(t, s.Second.Count())
	})
}

// Headers of a client have no meaning for a provider of another format.
func TestATranslatedRequestCarriesNoHeaderOfTheClient(t *testing.T) {
	eachTranslated(t, func(t *testing.T, s site.Failover, r site.Lane) {
		s.Ask(r.Path+"?beta=true", site.BodyFor(r.Path, "m", "hello", true),
			"Anthropic-Beta", "context-1m", "Anthropic-Version", "2026-10-21", "User-Agent", "agent/1", "Accept", "application/json", "X-Api-Key", site.ClientKey)
		got := s.First.Requests()[0]
		assert.NotContains(t, got.Query, "beta")
		got.Header.Del("Content-Length")
		assert.True(t, strings.HasPrefix(got.Header.Get("User-Agent"), "caddy-ai-gateway"), "the gateway's own")
		got.Header.Del("User-Agent")
		want := http.Header{"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"}}
		if r.Upstream == site.MessagesPath {
			want["Anthropic-Version"] = []string{"2023-06-01"}
		}
		assert.Equal(t, want, got.Header)
	})
}

func TestFallbackCrossesFormats(t *testing.T) {
	failures := map[string]gatewaytest.Step{
		"503": gatewaytest.Status(http.StatusServiceUnavailable), "reset": gatewaytest.Reset(),
		"no event": gatewaytest.HeadersThenClose(), "html": gatewaytest.Body(http.StatusOK, "text/html", []byte("<html>")),
	}
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		for model, c := range map[string]struct {
			failing        *gatewaytest.Provider
			provider, says string
		}{
			"m": {s.chat, "conversing", "in the messages format"},
			"n": {s.messages, "chatting", "in the chat format"},
		} {
			for name, step := range failures {
				for _, path := range []string{site.MessagesPath, site.CompletionsPath} {
					for _, streaming := range []bool{false, true} {
						about := fmt.Sprintf("%s %s %s stream=%t", model, name, path, streaming)
						c.failing.Always(step)
						answer := s.Ask(path, site.BodyFor(path, model, "hello", streaming))
						c.failing.Always(nil)
						require.Equal(t, http.StatusOK, answer.Status, about)
						assert.Contains(t, answerText(t, answer, path, streaming), c.says, about)
						record := s.Record(answer.ID())
						assert.Equal(t, c.provider, record["provider"], about)
						assert.Equal(t, 2.0, record["attempts"], about)
					}
				}
			}
		}
	})
}

func TestAClientsOwnBytesReachTheTargetThatSpeaksItsFormat(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		s.chat.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		body := `{ "model":"m", "max_tokens":50, "messages":[{"role":"user","content":"x","clear_at":"never"}], "diagnostics":{} }`
		require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, body).Status)
		assert.Equal(t, body, string(s.messages.Requests()[0].Body))
	})
}

const webSearch = `{"model":"%s","max_tokens":50,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`

func TestATargetThatCannotBeAskedIsPassedOver(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		answer := s.Ask(site.MessagesPath, fmt.Sprintf(webSearch, "m"))
		assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Zero(t, s.chat.Count())
		record := s.Record(answer.ID())
		assert.Equal(t, "conversing", record["provider"])
		assert.Equal(t, 1.0, record["attempts"], "a refusal is no attempt")

		s.messages.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		answer = s.Ask(site.MessagesPath, fmt.Sprintf(webSearch, "n"))
		assert.Equal(t, http.StatusServiceUnavailable, answer.Status, "an answer tells more than a refusal")
		assert.Zero(t, s.chat.Count())
	})
}

func TestTheFirstRefusalIsAnsweredWhenAllRefuse(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		for model, format := range map[string]string{"m": "chat", "n": "messages"} {
			for _, stream := range []string{"", `,"stream":true`} {
				answer := s.Ask(site.CompletionsPath, `{"model":"`+model+`","prompt":"x","suffix":"y"`+stream+`}`)
				assert.Equal(t, http.StatusBadRequest, answer.Status)
				assert.JSONEq(t, `{"error":{"message":"suffix: cannot be translated for model '`+model+`' (upstream format `+format+`)",
					"type":"invalid_request_error","param":"suffix","code":"unsupported_for_upstream"}}`, answer.Body)
				assert.Equal(t, "refused", s.Record(answer.ID())["outcome"])
			}
		}
		assert.Zero(t, s.chat.Count()+s.messages.Count(), "nobody was asked")
	})
}

func TestAThreadIsRefusedSoThatClientsGoOnWithoutIt(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		chat := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("chatting", chat, "format chat"))
		answer := s.Ask(site.MessagesPath+"?beta=true", `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"x"}],"thread":{"type":"create"}}`)
		assert.Equal(t, http.StatusBadRequest, answer.Status)
		assert.JSONEq(t, `{"type":"error","error":{"type":"invalid_request_error","message":"thread: cannot be translated for model 'm' (upstream format chat)",
			"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id":"`+answer.ID()+`"}`, answer.Body)
		assert.Zero(t, chat.Count())
	})
}

func TestWhatATranslationLeavesBehindIsLogged(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startMixed(t, w)
		for model, want := range map[string][]string{
			"m": {"messages.*.content.*.cache_control", "speed", "diagnostics", "?"},
			"n": nil, // the client's own bytes leave nothing behind
		} {
			s.messages.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(wholeMessage)))
			answer := s.Ask(site.MessagesPath, `{"model":"`+model+`","max_tokens":50,"speed":"fast","diagnostics":{},"unheard_of":1,`+
				`"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`)
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			got, _ := s.Record(answer.ID())["losses"].(string)
			assert.ElementsMatch(t, want, strings.FieldsFunc(got, func(c rune) bool { return c == ',' }))
		}
	})
}
