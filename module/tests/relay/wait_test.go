package relay

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A stream is flushed before the gateway waits for more of it. It must be, on every kind of
// connection: a client that reacts to an event would wait as long as the provider does.
func TestEveryEventArrivesWhileTheProviderWaits(t *testing.T) {
	for name, options := range map[string]string{
		"without TLS": "", "with a read timeout": "read_timeout 1m\n",
		"TLS with HTTP/1.1": "versions 1.1\n", "TLS with HTTP/2": "versions 2\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			if strings.HasPrefix(name, "TLS") {
				p = gatewaytest.NewTLSProvider(t)
				options += "tls_trust_pool inline {\ntrust_der " + base64.StdEncoding.EncodeToString(p.Certificate()) + "\n}\n"
			}
			s := site.Start(t, "provider p vllm {\nbase_url "+p.URL+"\n"+site.EveryFormat+"transport http {\n"+options+"}\n}")
			for _, path := range site.CallPaths {
				events := site.Streams[path]
				first := slices.IndexFunc(events, func(event string) bool { return strings.Contains(event, "Hi") })
				steps := []gatewaytest.Step{gatewaytest.Chunks(gatewaytest.EventStream, events[:first+1]...)}
				var gates []*gatewaytest.Gate
				for _, event := range events[first+1:] {
					gate := gatewaytest.NewGate(t)
					gates, steps = append(gates, gate), append(steps, gatewaytest.Stall(gate, gatewaytest.More(event)))
				}
				p.Script(gatewaytest.InOrder(steps...))
				answer := s.Open(path, site.BodyFor(path, "m", "hello", true))
				answer.NextUntil("Hi")
				for i, event := range events[first+1:] {
					gates[i].Open()
					assert.Equal(t, strings.TrimSpace(event), strings.TrimSpace(answer.Next()))
				}
				assert.True(t, answer.Rest().Read(t, path).Complete)
			}
		})
	}
}
