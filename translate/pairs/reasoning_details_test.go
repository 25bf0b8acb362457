package pairs_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Providers of many vendors' models want the reasoning that led to a call back as reasoning_details, with
// the signatures and the encrypted parts. No other format has a place for these, so they were lost: Claude and
// Gemini refused the next turn or thought anew, and MiniMax's models answered worse.
func TestCallsOfChatProvidersGoBackWithTheirReasoningDetails(t *testing.T) {
	called := `{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`
	for name, c := range map[string]struct {
		deltas []string // the values of reasoning_details in a stream
		want   string
	}{
		"a text in fragments and its signature": {
			[]string{
				`[{"type":"reasoning.text","text":"I \"will","format":"anthropic-claude-v1","index":0}]`,
				`[{"type":"reasoning.text","text":" ask\u0021","format":"anthropic-claude-v1","index":0}]`,
				`[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1","index":0}]`,
			},
			`[{"type":"reasoning.text","text":"I \"will ask\u0021","format":"anthropic-claude-v1","index":0,"signature":"c2ln"}]`,
		},
		"two signed texts of one index": {
			[]string{
				`[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"","signature":"s","index":0}]`,
				`[{"type":"reasoning.text","text":"b","index":0},{"type":"reasoning.text","text":null,"signature":"t","index":0}]`,
			},
			`[{"type":"reasoning.text","text":"a","index":0,"signature":"s"},{"type":"reasoning.text","text":"b","index":0,"signature":"t"}]`,
		},
		"a summary and encrypted reasoning": {
			[]string{
				`[{"type":"reasoning.summary","summary":"**Cal","format":"openai-responses-v1","index":0}]`,
				`[{"type":"reasoning.summary","summary":"ling**","format":"openai-responses-v1","index":0}]`,
				`[{"type":"reasoning.encrypted","data":"ZGF0YQ==","id":"rs_1","format":"openai-responses-v1","index":0}]`,
				`[{"type":"reasoning.encrypted","data":"bW9yZQ==","id":null,"format":"openai-responses-v1","index":0}]`,
			},
			`[{"type":"reasoning.summary","summary":"**Calling**","format":"openai-responses-v1","index":0},` +
				`{"type":"reasoning.encrypted","data":"ZGF0YQ==","id":"rs_1","format":"openai-responses-v1","index":0},` +
				`{"type":"reasoning.encrypted","data":"bW9yZQ==","id":null,"format":"openai-responses-v1","index":0}]`,
		},
		"ids of texts, without an index": {
			[]string{`[{"type":"reasoning.text","id":"a","text":"1"}]`, `[{"type":"reasoning.text","id":"a","text":"2"}]`, `[{"type":"reasoning.text","id":"b","text":"3"}]`},
			`[{"type":"reasoning.text","id":"a","text":"12"},{"type":"reasoning.text","id":"b","text":"3"}]`,
		},
		"elements and members that nobody knows": {
			[]string{`[]`, `[{"type":"reasoning.other","more":{"x":[1]}}]`, `[7]`},
			`[{"type":"reasoning.other","more":{"x":[1]}}]`,
		},
		"a call without reasoning":             {nil, ""},
		"more than the gateway would remember": {[]string{`[{"type":"reasoning.text","text":"` + strings.Repeat("x", seal.MaxRemembered) + `"}]`}, ""},
	} {
		var chunks []string
		for _, details := range c.deltas {
			chunks = append(chunks, `{"reasoning":"x","reasoning_details":`+details+`}`)
		}
		stream := chatStream(append(chunks, `{"tool_calls":[`+called+`]}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
		for from, before := range calledBefore {
			ring, err := seal.NewRing(bytes.Repeat([]byte{7}, 32))
			require.NoError(t, err)
			ask := func() (string, core.Rendered) {
				info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, ""), Seals: ring.For("p", "key:a")}
				out, r, refused := pairs.Render(nil, from, translate.Chat, []byte(before("c1")), info)
				require.Nil(t, refused, "%s: %v", from, refused)
				return string(out), r
			}
			kinds := map[string][]byte{"stream": stream}
			if c.want != "" {
				kinds["whole"] = []byte(`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_details":` + c.want +
					`,"tool_calls":[` + called + `]},"finish_reason":"tool_calls"}]}`)
			}
			for kind, answer := range kinds {
				_, r := ask()
				w := way{translate.Chat, from}
				o := answered(w, r.Answer, answer)
				if kind == "stream" {
					r.Answer.Stream = true
					o = translated(w, r.Answer, [][]byte{answer}, true)
				}
				require.True(t, o.Finished(), "%s, %s, %s", name, from, kind)
				out, _ := ask()
				if c.want == "" {
					assert.NotContains(t, out, "reasoning_details", "%s, %s", name, from)
				} else {
					assert.Equal(t, 1, strings.Count(out, `,"reasoning_details":`+c.want+`,"tool_calls":[`), "%s, %s, %s: %s", name, from, kind, out)
				}
			}
		}
	}
}
