package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// shortTurns is a chat request with many short messages: a strict pass takes most of its
// time for the names of members.
func shortTurns() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m1","messages":[`)
	for i := range 50 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"And what is %d?"},{"role":"assistant","content":"It is %d."}`, i, i)
	}
	b.WriteString(`,{"role":"user","content":"Thanks."}],"stream":true}`)
	return []byte(b.String())
}

func BenchmarkInspect(b *testing.B) {
	for _, r := range []struct {
		name   string
		format translate.Format
		body   []byte
	}{
		{"chat-short-turns", translate.Chat, shortTurns()},
		{"chat-agent", translate.Chat, chatAgentRequest(b)},
		{"messages-agent", translate.Messages, agentRequest()},
		{"responses-agent", translate.Responses, asResponses(b, agentRequest())},
		{"responses-short-turns", translate.Responses, asResponses(b, talkRequest(translate.Messages))},
	} {
		b.Run(r.name, func(b *testing.B) {
			inspect := formats.Of(r.format).Requests.Inspect
			b.SetBytes(int64(len(r.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := inspect(r.body, translate.Generate); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}
