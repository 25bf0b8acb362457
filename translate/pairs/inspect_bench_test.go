package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
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

// BenchmarkInspectChat is here because a chat request of an agent is made by a translation.
// The other formats have theirs beside their strict passes.
func BenchmarkInspectChat(b *testing.B) {
	for name, body := range map[string][]byte{"short-turns": shortTurns(), "agent": chatAgentRequest(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := chat.Descriptor.Requests.Inspect(body, translate.Generate); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}
