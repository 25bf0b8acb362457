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

// calledBefore are requests of clients with the result of a call of the id.
var calledBefore = map[translate.Format]func(id string) string{
	translate.Messages: func(id string) string {
		return conversation(hi+`,{"role":"assistant","content":[{"type":"tool_use","id":"`+id+`","name":"f","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}]}`, `"tools":[{"name":"f","input_schema":{"type":"object"}}]`)
	},
	translate.Responses: func(id string) string {
		return `{"model":"m1","tools":[{"type":"function","name":"f"}],"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"` + id + `","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"` + id + `","output":"r"}]}`
	},
	translate.Gemini: func(id string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"` + id + `","name":"f","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"` + id + `","name":"f","response":{"output":"r"}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`
	},
}

// Google's models refuse the result of a call without the signature that came with the call. Their chat
// endpoints have it in extra_content, for which no other format has a place: clients of others could
// call no tool twice.
func TestCallsOfChatProvidersGoBackWithTheirExtraContent(t *testing.T) {
	const (
		google = `{"google":{"thought_signature":"c2ln"}}`
		vertex = `{"vertex":{"thought_signature":"dmVy"},"more":[1,"}"]}`
	)
	called := func(id, extra string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}` + extra + `}`
	}
	calls := called("c1", `,"extra_content":`+google) + "," + called("functions.f:0", `,"extra_content":`+vertex) + "," + called("c3", "") + "," + called("c4", `,"extra_content":null`)
	stream := chatStream([]string{
		`{"tool_calls":[{"index":0,"id":"c1","extra_content":` + google + `,"function":{"name":"f","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":1,` + called("functions.f:0", `,"extra_content":`+vertex)[1:] + `]}`,
		`{"tool_calls":[{"index":2,` + called("c3", "")[1:] + `,{"index":3,` + called("c4", "")[1:] + `]}`,
	}, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
	whole := []byte(`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + calls + `]},"finish_reason":"tool_calls"}]}`)
	for from, before := range calledBefore {
		for kind, answer := range map[string][]byte{"stream": stream, "whole": whole} {
			ring, err := seal.NewRing(bytes.Repeat([]byte{7}, 32))
			require.NoError(t, err)
			ask := func(provider, id string) (string, core.Rendered) {
				info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, ""), Seals: ring.For(provider, "key:a")}
				out, r, refused := pairs.Render(nil, from, translate.Chat, []byte(before(id)), info)
				require.Nil(t, refused, "%s: %v", from, refused)
				return string(out), r
			}
			out, r := ask("p", "c1")
			assert.NotContains(t, out, "extra_content", "%s: nothing is known yet", from)
			w := way{translate.Chat, from}
			o := answered(w, r.Answer, answer)
			if kind == "stream" {
				r.Answer.Stream = true
				o = translated(w, r.Answer, [][]byte{answer}, true)
			}
			require.True(t, o.Finished(), "%s, %s", from, kind)
			assert.NotContains(t, o.out, "c2ln", "%s, %s: clients have no use for it", from, kind)

			for id, extra := range map[string]string{"c1": google, "functions.f:0": vertex, "gwid1_ZnVuY3Rpb25zLmY6MA": vertex, "c3": "", "c4": "", "c5": ""} {
				out, _ := ask("p", id)
				if extra == "" {
					assert.NotContains(t, out, "extra_content", "%s, %s: %s", from, kind, id)
					continue
				}
				assert.Equal(t, 1, strings.Count(out, `"arguments":"{}"},"extra_content":`+extra+`}`), "%s, %s: %s: %s", from, kind, id, out)
			}
			out, _ = ask("another", "c1")
			assert.NotContains(t, out, "extra_content", "%s: others refuse members that they do not know", from)
		}
	}
}
