package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func TestConformanceOfErrors(t *testing.T) {
	const anJSON = "application/json"
	page := "<html><body>502 Bad Gateway, nginx on 10.1.2.3</body></html>"
	overloaded := explained(translatedStatuses[503], "too busy", "")
	for _, c := range []struct {
		name, lane  string
		status      int
		contentType string
		body        string
		want        site.ErrorAnswer
	}{
		{"G064 a bill", "m>c", 402, anJSON, `{"error":{"message":"pay first"}}`, site.Exhausted},
		{"G064 a message", "m>c", 400, anJSON, `{"error":{"message":"messages: too odd"}}`, explained(translatedStatuses[400], "messages: too odd", "")},
		{"G065 an overload", "m>c", 503, anJSON, `{"error":{"message":"too busy","type":"service_unavailable_error"}}`, overloaded},
		{"G065 an overload", "c>m", 529, anJSON, `{"type":"error","error":{"type":"overloaded_error","message":"too busy"}}`, overloaded},
		{"G066 a page", "m>c", 502, "text/html", page, site.Unreadable(502, translatedStatuses[502])},
		{"G066 a page", "m>m", 502, "text/html", page, site.Unreadable(502, translatedStatuses[502])},
		{"G066 a page", "t>t", 502, "text/html", page, site.Unreadable(502, translatedStatuses[502])},
		{"G067 a page called an answer", "m>c", 200, "text/html", page, site.BadGateway},
		{"G067 a page called an answer", "c>c", 200, "text/html", page, site.BadGateway},
		{"G067 an error called an answer", "c>m", 200, anJSON, `{"type":"error","error":{"message":"too busy","code":503}}`, overloaded},
		{"G067 an error called an answer", "m>c", 200, anJSON, `{"error":{"message":"too busy","code":503}}`, overloaded},
		{"G067 an error without a status", "m>c", 200, anJSON, `{"error":{"message":"too odd"}}`, explained(translatedStatuses[502], "too odd", "")},
		{"G068 a bad key", "m>c", 401, anJSON, site.VendorError, site.BadCredential},
		{"G068 a bad key", "m>m", 401, anJSON, site.VendorError, site.BadCredential},
		{"G068 no money", "c>m", 402, anJSON, site.VendorError, site.Exhausted},
		{"G068 no money", "c>c", 402, anJSON, site.VendorError, site.Exhausted},
		{"G068 no quota", "m>c", 429, anJSON, `{"error":{"message":"secret plan","code":"insufficient_quota"}}`, site.Exhausted},
		{"G068 no quota", "t>t", 429, anJSON, `{"error":{"message":"secret plan","code":"insufficient_quota"}}`, site.Exhausted},
		{"G069 a limit", "m>c", 429, anJSON, `{"error":{"message":"slower"}}`, explained(translatedStatuses[429], "slower", "")},
		{"G069 a limit", "c>m", 429, anJSON, `{"type":"error","error":{"message":"slower"}}`, explained(translatedStatuses[429], "slower", "")},
		{"G070 an error of vLLM", "m>c", 400, anJSON, `{"object":"error","message":"too long","type":"BadRequestError","code":400}`, explained(translatedStatuses[400], "too long", "")},
		{"G070 details of fields", "m>c", 422, anJSON, `{"detail":[{"loc":["body","n"],"msg":"too many"}]}`, explained(translatedStatuses[400], "body.n: too many", "")},
	} {
		t.Run(c.name+" "+c.lane, func(t *testing.T) {
			site.EachWay(t, func(t *testing.T, w site.Way) {
				s := startConforming(t, w, [2]string{c.lane, ""})
				path := conformingLanes[c.lane].Path
				for _, streaming := range []bool{false, true} {
					s.p.Script(gatewaytest.Body(c.status, c.contentType, []byte(c.body),
						"Retry-After", "7", "Anthropic-Ratelimit-Requests-Remaining", "0", "X-Ratelimit-Remaining-Requests", "0"))
					answer := s.Ask(path, site.BodyFor(path, "m0", "hello", streaming))
					c.want.Assert(t, path, answer)
					assert.Empty(t, answer.RateLimits())
					if c.status != http.StatusOK {
						assert.Equal(t, map[bool]string{false: "7"}[c.want.Final], answer.Header.Get("Retry-After"))
					}
				}
			})
		})
	}
}

func TestG060TheNextTurnHasTheProvidersOwnIDs(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""})
		s.p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)))
		tools := `{"model":"m0","tools":[` + ours("f", "") + `],`
		answer := s.Ask(site.MessagesPath, tools+oneTurn+"}")
		whole, err := client.Messages.Parse([]byte(answer.Body))
		require.NoError(t, err, answer.Body)
		message, err := whole.Message()
		require.NoError(t, err)
		require.Len(t, message.Content, 1)
		id := message.Content[0].ID
		assert.Regexp(t, `^[A-Za-z0-9_-]+$`, id)
		answer = s.Ask(site.MessagesPath, tools+turnsOf(userText, says("assistant", strings.Replace(useA, `"a"`, `"`+id+`"`, 1)), says("user", result(id, `"ok"`)))+"}")
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, 2, strings.Count(s.last(), `"functions.f:0"`), s.last())
	})
}

func TestG062WhatAServerLeavesOutOfAnEchoIsNotMadeUp(t *testing.T) {
	const body = `{"id":"t","object":"text_completion","created":1,"model":"x","choices":[{"index":0,"text":"Once upon","logprobs":{"tokens":[" upon"],"token_logprobs":[-0.5]},"finish_reason":"stop"}]}`
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"t>t", ""})
		s.p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(body)))
		asked := `{"model":"m0","prompt":"Once","echo":true,"logprobs":1}`
		assert.Equal(t, body, s.Ask(site.CompletionsPath, asked).Body)
		assert.Equal(t, asked, s.last())
	})
}

// Before the headers of the provider or behind them: the silence is the same to
// the client.
func TestG101SilenceIsFilledWithPings(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		onLanes(t, w, site.Lanes, func(t *testing.T, s site.Failover, r site.Lane) {
			events := site.Streams[r.Upstream]
			for name, silent := range map[string]func(*gatewaytest.Gate) gatewaytest.Step{
				"before the headers": func(g *gatewaytest.Gate) gatewaytest.Step {
					return gatewaytest.Stall(g, gatewaytest.Chunks(gatewaytest.EventStream, events...))
				},
				"behind the headers": func(g *gatewaytest.Gate) gatewaytest.Step {
					return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream), gatewaytest.Stall(g, gatewaytest.More(events...)))
				},
			} {
				t.Run(name, func(t *testing.T) {
					gate := gatewaytest.NewGate(t)
					s.First.Script(silent(gate))
					answer := s.Open(r.Path, site.BodyFor(r.Path, "m", "hello", true))
					assert.Equal(t, http.StatusOK, answer.StatusCode)
					for range 3 {
						assert.True(t, site.IsKeepAlive(r.Path, answer.Next()))
					}
					gate.Open()
					whole := answer.Rest()
					seen := whole.Read(t, r.Path) // a second message_start would fail here
					assert.True(t, seen.Complete)
					assert.Equal(t, "Hi there", seen.Text())
				})
			}
		}, "commit_after 1ms", "keep_alive 5ms")
	})
}

func TestG117CodedBodiesAreTranslatedLikePlainOnes(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""})
		plain := site.BodyFor(site.MessagesPath, "m0", "hello, wörld", false)
		require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, plain).Status)
		want := s.last()
		for _, coding := range []string{"gzip", "zstd", "deflate", "br"} {
			answer := s.Ask(site.MessagesPath, site.Encoded(t, coding, plain), "Content-Encoding", coding)
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, want, s.last(), coding)
			assert.Empty(t, s.p.Requests()[s.p.Count()-1].Header.Get("Content-Encoding"))
		}
	})
}

func TestG118ABombIsNotDecoded(t *testing.T) {
	var bomb strings.Builder
	coder, err := zstd.NewWriter(&bomb)
	require.NoError(t, err)
	space := []byte(strings.Repeat(" ", 1<<20))
	for range 1 << 8 {
		_, err := coder.Write(space)
		require.NoError(t, err)
	}
	require.NoError(t, coder.Close())
	require.Less(t, bomb.Len(), 32<<10)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>m", ""})
		answer := s.Ask(site.MessagesPath, bomb.String(), "Content-Encoding", "zstd")
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer.Status)
		assert.Contains(t, answer.Body, "request_body_too_large_after_decoding")
		assert.Zero(t, s.p.Count())
	})
}
