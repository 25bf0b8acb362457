package module_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// translatedRoute is an endpoint whose requests go to a provider of another format.
type translatedRoute struct{ path, format, upstream string }

// translatedRoutes are all that there are: a new pair of formats is held to what
// the others promise.
var translatedRoutes = translatedPairs()

func translatedPairs() (routes []translatedRoute) {
	paths := map[translate.Format]string{
		translate.Messages: messagesPath, translate.Chat: chatPath, translate.Completions: completionsPath,
	}
	for _, client := range translate.Formats {
		for _, upstream := range translate.Formats {
			if pairs.CanTranslate(client, upstream) {
				routes = append(routes, translatedRoute{paths[client], "format " + string(upstream), paths[upstream]})
			}
		}
	}
	return routes
}

func (r translatedRoute) String() string { return r.path + " to " + r.upstream }

// eachRoute runs a test over all of them, on both ways to a provider.
func eachRoute(t *testing.T, test func(t *testing.T, w way, r translatedRoute)) {
	eachWay(t, func(t *testing.T, w way) {
		for _, r := range translatedRoutes {
			t.Run(r.String(), func(t *testing.T) { test(t, w, r) })
		}
	})
}

// startTranslated starts a gateway whose model "m" leads to a provider that
// speaks only the route's other format, and then to a second such.
func startTranslated(t *testing.T, w way, r translatedRoute, lines ...string) stalling {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := startSite(t, append(lines,
		w.provider("first", first, r.format, "models 1"), w.provider("second", second, r.format, "models 2"),
		"model m {\nto first/vendor-m\nto second/vendor-m\n}")...)
	return stalling{s, first, second, gatewaytest.NewGate(t)}
}

func TestATranslatedRequestIsAnsweredInTheClientsFormat(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		for _, streaming := range []bool{false, true} {
			answer := s.ask(r.path, bodyFor(r.path, "m", "hello", streaming))
			require.Equal(t, http.StatusOK, answer.status, answer.body)
			assert.Contains(t, answer.said(t, r.path, streaming), "hello")
			if streaming {
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.header.Get("Content-Type"))
				assert.True(t, answer.read(t, r.path).complete)
			} else {
				assert.Equal(t, "application/json", answer.header.Get("Content-Type"))
			}
			assert.Contains(t, answer.body, `"model":"vendor-m"`, "the model that answered")
			assert.Equal(t, "m", answer.header.Get("X-Gateway-Model"))
			record := s.record(answer.id())
			assert.Equal(t, "answered", record["outcome"])
			assert.Equal(t, "vendor-m", record["answered_by"])
			assert.NotZero(t, record["usage.output_tokens"])
		}
		assert.Equal(t, []string{r.upstream}, s.first.Paths())
		assert.Zero(t, s.second.Count())
	})
}

// What a client of another format says of itself means nothing to the provider.
func TestATranslatedRequestCarriesNoHeaderOfTheClient(t *testing.T) {
	eachRoute(t, func(t *testing.T, w way, r translatedRoute) {
		s := startTranslated(t, w, r)
		s.ask(r.path+"?beta=true", bodyFor(r.path, "m", "hello", true),
			"Anthropic-Beta", "context-1m", "Anthropic-Version", "2026-10-21", "User-Agent", "agent/1", "Accept", "application/json", "X-Api-Key", clientKey)
		got := s.first.Requests()[0]
		assert.Empty(t, got.Query)
		got.Header.Del("Content-Length")
		assert.True(t, strings.HasPrefix(got.Header.Get("User-Agent"), "caddy-ai-gateway"), "the gateway's own")
		got.Header.Del("User-Agent")
		want := http.Header{"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"}}
		if r.upstream == messagesPath {
			want["Anthropic-Version"] = []string{"2023-06-01"}
		}
		assert.Equal(t, want, got.Header)
	})
}

// mixed starts a gateway whose model "m" leads to a provider of chat, then to
// one of messages; for the model "n" it is the other way round.
type mixed struct {
	*site
	chat, messages *gatewaytest.Provider
}

func startMixed(t *testing.T, w way) mixed {
	chat, messages := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	return mixed{startSite(t,
		w.provider("chatting", chat, "format chat", "models 1"), w.provider("conversing", messages, "format messages", "models 2"),
		"model m {\nto chatting\nto conversing\n}", "model n {\nto conversing\nto chatting\n}"), chat, messages}
}

// said is the text of an answer, streamed or not.
func (r reply) said(t *testing.T, path string, streaming bool) string {
	t.Helper()
	if streaming {
		return r.read(t, path).text
	}
	return r.body
}

func TestFallbackCrossesFormats(t *testing.T) {
	failures := map[string]gatewaytest.Step{
		"503": gatewaytest.Status(http.StatusServiceUnavailable), "reset": gatewaytest.Reset(),
		"no event": gatewaytest.HeadersThenClose(), "html": gatewaytest.Body(http.StatusOK, "text/html", []byte("<html>")),
	}
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		for model, c := range map[string]struct {
			failing        *gatewaytest.Provider
			provider, says string
		}{
			"m": {s.chat, "conversing", "in the messages format"},
			"n": {s.messages, "chatting", "in the chat format"},
		} {
			for name, step := range failures {
				for _, path := range []string{messagesPath, completionsPath} {
					for _, streaming := range []bool{false, true} {
						about := fmt.Sprintf("%s %s %s stream=%t", model, name, path, streaming)
						c.failing.Script(step)
						answer := s.ask(path, bodyFor(path, model, "hello", streaming))
						require.Equal(t, http.StatusOK, answer.status, about)
						assert.Contains(t, answer.said(t, path, streaming), c.says, about)
						record := s.record(answer.id())
						assert.Equal(t, c.provider, record["provider"], about)
						assert.Equal(t, 2.0, record["attempts"], about)
					}
				}
			}
		}
	})
}

func TestAClientsOwnBytesReachTheTargetThatSpeaksItsFormat(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		s.chat.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		body := `{ "model":"m", "max_tokens":50, "messages":[{"role":"user","content":"x","clear_at":"never"}], "diagnostics":{} }`
		require.Equal(t, http.StatusOK, s.ask(messagesPath, body).status)
		assert.Equal(t, body, string(s.messages.Requests()[0].Body))
	})
}

const webSearch = `{"model":"%s","max_tokens":50,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`

func TestATargetThatCannotBeAskedIsPassedOver(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		answer := s.ask(messagesPath, fmt.Sprintf(webSearch, "m"))
		assert.Equal(t, http.StatusOK, answer.status, answer.body)
		assert.Zero(t, s.chat.Count())
		record := s.record(answer.id())
		assert.Equal(t, "conversing", record["provider"])
		assert.Equal(t, 1.0, record["attempts"], "a refusal is no attempt")

		s.messages.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		answer = s.ask(messagesPath, fmt.Sprintf(webSearch, "n"))
		assert.Equal(t, http.StatusServiceUnavailable, answer.status, "an answer tells more than a refusal")
		assert.Zero(t, s.chat.Count())
	})
}

func TestTheFirstRefusalIsToldWhenAllRefuse(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		for model, format := range map[string]string{"m": "chat", "n": "messages"} {
			for _, stream := range []string{"", `,"stream":true`} {
				answer := s.ask(completionsPath, `{"model":"`+model+`","prompt":"x","suffix":"y"`+stream+`}`)
				assert.Equal(t, http.StatusBadRequest, answer.status)
				assert.JSONEq(t, `{"error":{"message":"suffix: cannot be translated for model '`+model+`' (upstream format `+format+`)",
					"type":"invalid_request_error","param":"suffix","code":"unsupported_for_upstream"}}`, answer.body)
				assert.Equal(t, "refused", s.record(answer.id())["outcome"])
			}
		}
		assert.Zero(t, s.chat.Count()+s.messages.Count(), "nobody was asked")
	})
}

func TestAThreadIsRefusedSoThatClientsGoOnWithoutIt(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		chat := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("chatting", chat, "format chat"))
		answer := s.ask(messagesPath+"?beta=true", `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"x"}],"thread":{"type":"create"}}`)
		assert.Equal(t, http.StatusBadRequest, answer.status)
		assert.JSONEq(t, `{"type":"error","error":{"type":"invalid_request_error","message":"thread: cannot be translated for model 'm' (upstream format chat)",
			"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id":"`+answer.id()+`"}`, answer.body)
		assert.Zero(t, chat.Count())
	})
}

// wholeMessage is an answer of a provider that knows every field.
const wholeMessage = `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[],"stop_reason":"end_turn","usage":{}}`

func TestWhatATranslationLeavesBehindIsLogged(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startMixed(t, w)
		for model, want := range map[string][]string{
			"m": {"messages.*.content.*.cache_control", "speed", "diagnostics", "?"},
			"n": nil, // the client's own bytes leave nothing behind
		} {
			s.messages.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(wholeMessage)))
			answer := s.ask(messagesPath, `{"model":"`+model+`","max_tokens":50,"speed":"fast","diagnostics":{},"unheard_of":1,`+
				`"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`)
			require.Equal(t, http.StatusOK, answer.status, answer.body)
			got, _ := s.record(answer.id())["losses"].(string)
			assert.ElementsMatch(t, want, strings.FieldsFunc(got, func(c rune) bool { return c == ',' }))
		}
	})
}
