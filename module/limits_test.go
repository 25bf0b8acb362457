package module_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// The bound of events was once fixed at 32 MiB, and an event beyond it behind
// which the body ended was called a stream that broke off.
func TestG093TheBoundOfEventsIsThatOfTheConfiguration(t *testing.T) {
	begin := strings.Join(streams[chatPath][:2], "")
	big := strings.Repeat("x", 5<<10)
	event := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"content":"` + big + `"}}]}` + "\n\n"
	end := strings.Join(streams[chatPath][2:], "")
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startCaddyfile(t, "{\nai_gateway {\nmax_event_bytes 4KiB\n}\n}\n"+siteBlock("",
			w.provider("narrow", p, "format chat", "models narrow"),
			w.provider("wide", p, "format chat", "models wide", "max_event_bytes 8KiB")))
		for _, path := range []string{messagesPath, chatPath, completionsPath} {
			t.Run(path, func(t *testing.T) {
				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, event))
				badGateway.assert(t, path, s.ask(path, bodyFor(path, "narrow", "hello", true)))

				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, begin, event, end))
				answer := s.ask(path, bodyFor(path, "narrow", "hello", true))
				require.Equal(t, http.StatusOK, answer.status)
				seen := answer.read(t, path)
				assert.Equal(t, "Hi", seen.text)
				require.NotNil(t, seen.failure)
				assert.Equal(t, "the upstream returned an unusable answer", seen.failure.Message)
				assert.False(t, seen.complete)

				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, begin, event, end))
				seen = s.ask(path, bodyFor(path, "wide", "hello", true)).read(t, path)
				assert.Equal(t, "Hi"+big+" there", seen.text)
				assert.True(t, seen.complete)
			})
		}
	})
}

// Times were once set for each provider alone.
func TestTimesOfTheSiteHoldForProvidersWithoutTheirOwn(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startCaddyfile(t, "{\nai_gateway {\nresponse_header_timeout 1h\n}\n}\n"+siteBlock("", "response_header_timeout 20ms",
			w.provider("hasty", p, "models hasty"),
			w.provider("patient", p, "models patient", "response_header_timeout 1h")))
		gate := gatewaytest.NewGate(t)
		p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		patient := make(chan reply)
		go func() { patient <- s.ask(chatPath, bodyFor(chatPath, "patient", "hello", false)) }()
		require.NoError(t, gate.WaitArrived(waiting(t)))
		assert.Equal(t, http.StatusGatewayTimeout, s.ask(chatPath, bodyFor(chatPath, "hasty", "hello", false)).status)
		gate.Open() // the patient one has waited longer by now
		assert.Equal(t, http.StatusOK, (<-patient).status)
	})
}
