package relay_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The bound of events was once fixed at 32 MiB. If the body ended after a larger event, the
// error was that of a stream that broke off.
func TestG093TheBoundOfEventsIsThatOfTheConfiguration(t *testing.T) {
	begin := strings.Join(site.Streams[site.ChatPath][:2], "")
	big := strings.Repeat("x", 5<<10)
	event := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"content":"` + big + `"}}]}` + "\n\n"
	end := strings.Join(site.Streams[site.ChatPath][2:], "")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, "{\nai_gateway {\nmax_event_bytes 4KiB\n}\n}\n"+site.Block("",
			w.Provider("narrow", p, "format chat", "models narrow"),
			w.Provider("wide", p, "format chat", "models wide", "max_event_bytes 8KiB")))
		for _, path := range []string{site.MessagesPath, site.ChatPath, site.CompletionsPath} {
			t.Run(path, func(t *testing.T) {
				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, event))
				site.BadGateway.Assert(t, path, s.Ask(path, site.BodyFor(path, "narrow", "hello", true)))

				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, begin, event, end))
				answer := s.Ask(path, site.BodyFor(path, "narrow", "hello", true))
				require.Equal(t, http.StatusOK, answer.Status)
				seen := answer.Read(t, path)
				assert.Equal(t, "Hi", seen.Text())
				require.NotNil(t, seen.Failure)
				assert.Equal(t, "the upstream returned an unusable answer", seen.Failure.Message)
				assert.False(t, seen.Complete)

				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, begin, event, end))
				seen = s.Ask(path, site.BodyFor(path, "wide", "hello", true)).Read(t, path)
				assert.Equal(t, "Hi"+big+" there", seen.Text())
				assert.True(t, seen.Complete)
			})
		}
	})
}

// Timeouts could once be set only for each provider.
func TestTimesOfTheSiteHoldForProvidersWithoutTheirOwn(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, "{\nai_gateway {\nresponse_header_timeout 1h\n}\n}\n"+site.Block("", "response_header_timeout 20ms",
			w.Provider("hasty", p, "models hasty"),
			w.Provider("patient", p, "models patient", "response_header_timeout 1h")))
		gate := gatewaytest.NewGate(t)
		p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		patient := make(chan site.Reply)
		go func() { patient <- s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "patient", "hello", false)) }()
		require.NoError(t, gate.WaitArrived(site.Waiting(t)))
		assert.Equal(t, http.StatusGatewayTimeout, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "hasty", "hello", false)).Status)
		gate.Open() // the patient one has waited longer by now
		assert.Equal(t, http.StatusOK, (<-patient).Status)
	})
}
