package relay_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// asking sends some requests at once with a key, and returns the channel of their answers.
func asking(s *site.Site, requests int, key string) <-chan site.Reply {
	answers := make(chan site.Reply, requests)
	for range requests {
		go func() {
			answers <- s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer "+key)
		}()
	}
	return answers
}

// assertCrowded asserts that an answer is that of a queue which is full.
func assertCrowded(t *testing.T, answer site.Reply, whose string) {
	t.Helper()
	assert.Equal(t, http.StatusTooManyRequests, answer.Status)
	assert.Equal(t, "1", answer.Header.Get("Retry-After"))
	assert.Contains(t, answer.Body, "too many requests wait for "+whose+": try again later")
	assert.Contains(t, answer.Body, `"rate_limit_exceeded"`)
}

// A request beyond max_running was refused at once, although a call ends soon.
func TestRequestsWaitForAProvider(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("p", p, "max_running 1", "queue 1 1m"))
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	running := asking(s, 1, site.ClientKey)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	others := asking(s, 3, site.ClientKey) // of which one may wait
	assertCrowded(t, <-others, "the upstream for model 'm'")
	assertCrowded(t, <-others, "the upstream for model 'm'")
	answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false))
	assert.Equal(t, http.StatusTooManyRequests, answer.Status)
	assert.Contains(t, answer.Body, `"type":"rate_limit_error"`)
	assert.Equal(t, 1, p.Count())
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-running).Status)
	assert.Equal(t, http.StatusOK, (<-others).Status)
	assert.Equal(t, http.StatusOK, (<-asking(s, 1, site.ClientKey)).Status)
}

// Calls under another name for the same address were counted behind the queue: with free slots, and nobody
// in line, requests got 503.
func TestCallsUnderAnotherNameTakeNoSlotOfAQueue(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("open", p, "models off"), site.Direct.Provider("bounded", p, "models off", "max_running 1", "queue 1 1m"),
		"model other {\nto open\n}", "model m {\nto bounded\n}")
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	answers := make(chan site.Reply, 1)
	go func() { answers <- s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other", "hello", false)) }()
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	assert.Equal(t, http.StatusOK, (<-asking(s, 1, site.ClientKey)).Status)
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-answers).Status)
}

// Nobody waits for a provider while another target is free.
func TestARequestGoesToAnotherTargetBeforeItWaits(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, site.Direct.Provider("first", first, "models off", "max_running 1", "queue 1 1m"), site.Direct.Provider("second", second, "models off", "max_running 1"),
		"model m {\nto first\nto second\n}")
	for _, p := range []*gatewaytest.Provider{first, second} {
		p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	}
	running := asking(s, 2, site.ClientKey)
	require.NoError(t, first.WaitRequests(site.Waiting(t), 1))
	require.NoError(t, second.WaitRequests(site.Waiting(t), 1))
	others := asking(s, 2, site.ClientKey)
	assertCrowded(t, <-others, "the upstream for model 'm'")
	gate.Open()
	for _, answers := range []<-chan site.Reply{running, running, others} {
		assert.Equal(t, http.StatusOK, (<-answers).Status)
	}
	assert.Equal(t, []int{2, 1}, []int{first.Count(), second.Count()})
}

// A request of a higher priority takes the place of one of a lower priority, also at the gateway.
func TestTheLowestPriorityIsShed(t *testing.T) {
	t.Setenv("KEY_LOW", site.BobKey)
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, "max_running 1", "queue 1 1m", site.Direct.Provider("p", p),
		"limit patient {\npriority low\n}", "key low {env.KEY_LOW} {\nlimit patient\n}")
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	running := asking(s, 1, site.ClientKey)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	low := asking(s, 2, site.BobKey)
	assertCrowded(t, <-low, "the gateway") // the other one waits
	normal := asking(s, 2, site.ClientKey)
	assertCrowded(t, <-low, "the gateway")
	assertCrowded(t, <-normal, "the gateway")
	gate.Open()
	assert.Equal(t, http.StatusOK, (<-running).Status)
	assert.Equal(t, http.StatusOK, (<-normal).Status)
}

// The server of HTTP/1 notices that a client has left only behind the end of the body, which the gateway read when
// the request had its turn: until then, clients that had left kept all places of the queue, and others got 429.
func TestAClientThatLeavesTheQueueOfTheGatewayFreesItsPlace(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	gate := gatewaytest.NewGate(t)
	s := site.Start(t, "max_running 1", "queue 3 10m", site.Direct.Provider("p", p))
	p.Script(gatewaytest.Stall(gate, gatewaytest.Answer()))
	running := asking(s, 1, site.ClientKey)
	require.NoError(t, p.WaitRequests(site.Waiting(t), 1))
	short, long := "hello", strings.Repeat("hello ", 150_000)
	left := make(map[any]bool) // ids of requests
	for _, tt := range []struct {
		name, prompt string
		http2        bool
		length       int64 // that the request states; 0 for the true one
	}{
		{name: "short", prompt: short},
		{name: "chunks", prompt: short, length: -1},
		{name: "long", prompt: long},
		{name: "long, in chunks", prompt: long, length: -1},
		{name: "HTTP/2", prompt: long, http2: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			client, ended := site.NewClient(t, tt.http2), make(chan error)
			for range 4 {
				request := site.NewRequest(ctx, t, s.URL("site", ""), site.ChatPath, site.BodyFor(site.ChatPath, "m", tt.prompt, false))
				if tt.length != 0 {
					request.ContentLength = tt.length
				}
				go func() {
					response, err := client.Do(request)
					if err == nil {
						assert.Equal(t, http.StatusTooManyRequests, response.StatusCode)
						assert.NoError(t, response.Body.Close())
					}
					ended <- err
				}()
			}
			require.NoError(t, <-ended) // the others wait
			leave()
			for range 3 {
				require.ErrorIs(t, <-ended, context.Canceled)
				record := s.RecordWhere(func(r map[string]any) bool { return r["outcome"] == "client_closed" && !left[r["request_id"]] })
				left[record["request_id"]] = true
				assert.Nil(t, record["fault"])
			}
		})
	}
	others := asking(s, 3, site.ClientKey)
	gate.Open()
	for _, answers := range []<-chan site.Reply{running, others, others, others} {
		assert.Equal(t, http.StatusOK, (<-answers).Status)
	}
	assert.Equal(t, 4, p.Count())
}
