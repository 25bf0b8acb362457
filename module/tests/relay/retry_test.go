package relay_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestTheLastTargetIsAskedAgainIfThatCostsNothing(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		tests := []struct {
			name  string
			step  gatewaytest.Step
			lines []string
			want  int // status
			calls int
		}{
			{"a short wait", gatewaytest.Status(429, "Retry-After-Ms", "20"), nil, 200, 2},
			{"overloaded", gatewaytest.Status(529, "Retry-After-Ms", "20"), nil, 200, 2},
			{"a long wait", gatewaytest.Status(429, "Retry-After", "6"), nil, 429, 1},
			{"no time", gatewaytest.Status(429), nil, 429, 1},
			{"a short wait in the message", gatewaytest.Body(429, "application/json", []byte(`{"error":{"message":"try again in 20ms"}}`)), nil, 200, 2},
			{"a short wait in a stream", gatewaytest.Chunks(gatewaytest.EventStream, "data: {\"error\":{\"message\":\"try again in 20ms\",\"code\":429}}\n\n"), nil, 200, 2},
			{"overloaded in a stream", gatewaytest.Chunks(gatewaytest.EventStream, "data: {\"error\":{\"message\":\"try again in 20ms\",\"code\":503}}\n\n"), nil, 503, 1},
			{"the provider failed", gatewaytest.Status(500, "Retry-After-Ms", "20"), nil, 500, 1},
			{"retry off", gatewaytest.Status(429, "Retry-After-Ms", "20"), []string{"retry off"}, 429, 1},
		}
		var blocks strings.Builder
		providers := make([]*gatewaytest.Provider, len(tests))
		for i, test := range tests {
			providers[i] = gatewaytest.NewProvider(t)
			blocks.WriteString(site.BlockAt(fmt.Sprint("case", i), "", append(test.lines, w.Provider("p", providers[i]))...))
		}
		all := site.StartCaddyfile(t, blocks.String())
		for i, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel() // times in messages are rounded up to whole seconds
				p, s := providers[i], all.At(t, fmt.Sprint("case", i))
				p.Script(test.step)
				answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
				assert.Equal(t, test.want, answer.Status, answer.Body)
				assert.Equal(t, test.calls, p.Count())
				assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"])
			})
		}
	})
}

// If every request were repeated, a failing provider would get twice as many requests.
func TestRepeatedCallsAreFew(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p))
	p.Always(gatewaytest.Status(503, "Retry-After-Ms", "1"))
	for range 100 {
		assert.Equal(t, http.StatusServiceUnavailable, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	}
	assert.InDelta(t, 100+10+10, p.Count(), 4)
}

func TestAnExchangeEndsAtItsDeadline(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	p.Always(func(c *gatewaytest.Call) {
		step := site.WaitingAt(gate)
		if strings.Contains(c.Request.Header.Get("Accept"), "json") {
			step = gatewaytest.Stall(gate, gatewaytest.Answer())
		}
		step(c)
	})
	s := site.Start(t, "deadline 2s", // on a busy machine, content takes a while
		site.Direct.Provider("direct", p, "models direct"), site.Proxied.Provider("proxied", p, "models proxied"))
	whole, streams := make(map[string]func() site.Reply), make(map[string]func() site.Reply)
	models := []string{"direct", "proxied"}
	for _, model := range models {
		for _, path := range site.ClientPaths { // they wait at once
			whole[model+path] = s.Later(path, site.BodyFor(path, model, "hello", false))
			streams[model+path] = s.Later(path, site.BodyFor(path, model, "hello", true))
		}
	}
	for _, model := range models {
		for _, path := range site.ClientPaths {
			answer := whole[model+path]()
			assert.Equal(t, http.StatusGatewayTimeout, answer.Status, answer.Body)
			assert.Equal(t, "failed", s.Record(answer.ID())["outcome"])

			answer = streams[model+path]()
			read := answer.Read(t, path)
			assert.False(t, read.Complete)
			assert.NotNil(t, read.Failure, "the error event: %s", answer.Body)
			assert.Equal(t, "cut", s.Record(answer.ID())["outcome"])
		}
	}
}

// The wait before a call is repeated ends with the deadline.
func TestADeadlineEndsTheWaitForARepeatedCall(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "deadline 500ms", site.Direct.Provider("p", p))
	p.Script(gatewaytest.Status(429, "Retry-After", "4"))
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, http.StatusGatewayTimeout, answer.Status, answer.Body)
	assert.Equal(t, 1, p.Count())
}

func TestABusyProviderLeavesRequestsToOthers(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		gate := gatewaytest.NewGate(t)
		s := site.Start(t, w.Provider("first", first, "models 1", "max_running 1"), w.Provider("second", second, "models 2"),
			"model m {\nto first\nto second\n}")
		first.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
		running := s.Later(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		assert.NoError(t, first.WaitRequests(site.Waiting(t), 1))
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
		assert.Equal(t, 1, second.Count())
		assertBusy(t, s, "1", "the upstream for model '1' has too many requests at once")
		gate.Open()
		assert.Equal(t, http.StatusOK, running().Status)
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "1", "hello", false)).Status)
	})
}

func TestABusyGatewayRefusesRequests(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, "max_running 2", site.Direct.Provider("p", p))
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()), gatewaytest.Stall(gate, gatewaytest.Answer()))
	var running []func() site.Reply
	for range 2 {
		running = append(running, s.Later(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)))
	}
	assert.NoError(t, p.WaitRequests(site.Waiting(t), 2))
	assertBusy(t, s, "m", "the gateway has too many requests at once")
	gate.Open()
	for _, wait := range running {
		assert.Equal(t, http.StatusOK, wait().Status)
	}
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
}

// assertBusy checks that clients of every format get an error with a time to wait.
func assertBusy(t *testing.T, s *site.Site, model, message string) {
	t.Helper()
	for _, path := range site.ClientPaths {
		answer := s.Ask(path, site.BodyFor(path, model, "hello", true))
		want := http.StatusServiceUnavailable
		if path == site.MessagesPath {
			want = 529
		}
		assert.Equal(t, want, answer.Status, answer.Body)
		assert.Equal(t, "1", answer.Header.Get("Retry-After"))
		assert.Contains(t, answer.Body, message)
		assert.Equal(t, "refused", s.Record(answer.ID())["outcome"])
	}
}
