package relay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// turnsOfAgent returns two requests of one conversation, each with its own attribution: a
// recorded request, and the same request with another turn.
func turnsOfAgent(t *testing.T) [2][]byte {
	t.Helper()
	var turns [2][]byte
	for _, c := range site.Captures(t) {
		if c.Name != "messages-first-turn.json" {
			continue
		}
		var body map[string]any
		require.NoError(t, json.Unmarshal(c.Body, &body))
		body["model"] = "m"
		for i := range turns {
			system := body["system"].([]any)
			system[0].(map[string]any)["text"] = fmt.Sprintf("x-anthropic-billing-header: cc_version=2.1.329.a%d; cch=%d;", i, i)
			var err error
			turns[i], err = json.Marshal(body)
			require.NoError(t, err)
			body["messages"] = append(body["messages"].([]any),
				map[string]any{"role": "assistant", "content": "Hi"}, map[string]any{"role": "user", "content": "more"})
		}
	}
	require.NotEmpty(t, turns[1], "a capture with an attribution")
	return turns
}

// beginning returns the part of a request before the last two turns, as a server reads it.
func beginning(t *testing.T, received []byte, turns int) string {
	t.Helper()
	var body struct {
		System   json.RawMessage
		Messages []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(received, &body))
	require.GreaterOrEqual(t, len(body.Messages), turns)
	raw, err := json.Marshal(body.Messages[:turns])
	require.NoError(t, err)
	return string(body.System) + string(raw)
}

// Because of the attribution at their beginning, two requests of a conversation never had a
// common prefix, so that a local server processed the whole conversation in every turn.
func TestTurnsOfAnAgentBeginAlikeForServersThatCachePrefixes(t *testing.T) {
	turns := turnsOfAgent(t)
	for _, format := range []string{"messages", "chat"} {
		for _, attribution := range []string{"drop", "keep"} {
			t.Run(format+" "+attribution, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := site.Start(t, site.Direct.Provider("p", p, "format "+format, "mid_system keep", "attribution "+attribution))
				for _, turn := range turns {
					answer := s.Ask(site.MessagesPath, string(turn))
					require.Equal(t, 200, answer.Status, answer.Body)
					assert.Equal(t, attribution == "drop", bytes.Contains([]byte(answer.Header.Get("X-Gateway-Dropped")), []byte("system.*.text")))
				}
				received := p.Requests()
				require.Len(t, received, 2)
				first, _ := messageCount(received[0].Body)
				assert.Equal(t, attribution == "drop",
					beginning(t, received[0].Body, first) == beginning(t, received[1].Body, first))
			})
		}
	}
}

func messageCount(body []byte) (int, error) {
	var request struct{ Messages []json.RawMessage }
	err := json.Unmarshal(body, &request)
	return len(request.Messages), err
}
