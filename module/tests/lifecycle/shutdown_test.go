package lifecycle_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// stalledStream opens a stream that waits at the gate after "Hi".
func stalledStream(p *site.Process, provider *gatewaytest.Provider, gate *gatewaytest.Gate, path string) *site.Stream {
	provider.Script(site.WaitingAt(gate))
	open := p.Open(path, site.BodyFor(path, "m", "hello", true))
	open.NextUntil(`"Hi"`)
	return open
}

var shuttingDown = site.ErrorAnswer{
	Status: 503, MessagesStatus: 529, Kind: "server_error", MessagesKind: "overloaded_error",
	Code: "overloaded", Message: "the gateway is shutting down",
}

// Streams that outlived the grace period once broke off without an error event.
func TestWaitingClientsGetAnErrorWhenTheGracePeriodEnds(t *testing.T) {
	t.Parallel() // its subtests, too: on a busy machine, each may wait for seconds
	site.EachWay(t, func(t *testing.T, w site.Way) {
		t.Parallel()
		provider := gatewaytest.NewProvider(t)
		p := site.StartProcess(t, "grace_period 7s\nshutdown_delay 3s", w.Provider("p", provider))
		ending, never, unheard := gatewaytest.NewGate(t), gatewaytest.NewGate(t), gatewaytest.NewGate(t)
		finishing, hanging := make(map[string]*site.Stream), make(map[string]*site.Stream)
		silent := make(map[string][]func() site.Reply)
		for _, path := range site.ClientPaths {
			finishing[path] = stalledStream(p, provider, ending, path)
			hanging[path] = stalledStream(p, provider, never, path)
			for _, streaming := range []bool{false, true} {
				provider.Script(gatewaytest.Stall(unheard, gatewaytest.Answer()))
				silent[path] = append(silent[path], p.Later(path, site.BodyFor(path, "m", "hello", streaming)))
				require.NoError(t, unheard.WaitArrived(site.Waiting(t)))
			}
		}
		p.Terminate()
		p.Wait("shutdown scheduled")
		for _, path := range site.ClientPaths {
			assert.Equal(t, http.StatusOK, p.Open(path, site.BodyFor(path, "m", "hello", false)).Rest().Status, "new requests before the grace period")
		}
		p.Wait("grace period initiated")
		ending.Open()
		for _, path := range site.ClientPaths {
			assertSent(t, path, finishing[path].Rest().Body)
			whole := hanging[path].Rest()
			whole.AssertEnded(t, path)
			shuttingDown.AssertAfter(t, path, site.WithoutKeepAlives(path, strings.Join(site.Streams[path][:len(site.Streams[path])-3], "")), whole)
			for _, answer := range silent[path] {
				shuttingDown.Assert(t, path, answer())
			}
		}
		p.AssertExits()
	})
}

// A load balancer must stop sending requests before the gateway stops taking them:
// shutdown_delay is the time between the two.
func TestAShutdownTurnsReadinessOffFirst(t *testing.T) {
	t.Parallel()
	p := site.StartProcess(t, "shutdown_delay 1m", site.DemoProvider) // longer than the test
	status := func(path string) int {
		response, err := http.Get("http://" + p.Address + path)
		if err != nil {
			return 0
		}
		_ = response.Body.Close() // the status is known
		return response.StatusCode
	}
	assert.Equal(t, http.StatusOK, status("/readyz"))
	p.Terminate()
	require.Eventually(t, func() bool { return status("/readyz") == http.StatusServiceUnavailable }, site.Patience, site.PollEvery)
	assert.Equal(t, http.StatusOK, status("/livez"))
	assert.Equal(t, http.StatusOK, site.StatusNow(p, site.ClientKey), "requests that still arrive are served")
}

// A reload ends no stream, however short the grace period. Streams of
// earlier configurations get their error event when the process ends, though no server
// waits for them any more.
func TestStreamsFromBeforeAReloadGetAnErrorAtShutdown(t *testing.T) {
	t.Parallel()
	provider := gatewaytest.NewProvider(t)
	block := site.Direct.Provider("p", provider)
	p := site.StartProcess(t, "grace_period 1ms", block)
	never := gatewaytest.NewGate(t)
	left := stalledStream(p, provider, never, site.MessagesPath)
	p.Reload("grace_period 6s", block, "max_body 1MiB")
	p.Wait("server shutdown") // its grace period is over
	p.Terminate()
	whole := left.Rest()
	require.NoError(t, whole.Err)
	assert.True(t, strings.HasSuffix(whole.Body, shuttingDown.Event(site.MessagesPath, whole.ID())), whole.Body)
	p.AssertExits()
}

// A request that waited for its turn got the error of a provider that is busy when the process ended.
func TestRequestsInQueuesGetAnErrorAtShutdown(t *testing.T) {
	t.Parallel()
	for place, lines := range map[string]func(*gatewaytest.Provider) []string{
		"gateway": func(p *gatewaytest.Provider) []string {
			return []string{"max_running 1", "queue 1 10m", site.Direct.Provider("p", p)}
		},
		"provider": func(p *gatewaytest.Provider) []string {
			return []string{site.Direct.Provider("p", p, "max_running 1", "queue 1 10m")}
		},
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			p := site.StartProcess(t, "grace_period 4s", lines(provider)...)
			stalledStream(p, provider, gatewaytest.NewGate(t), site.ChatPath)
			answers := make(chan site.Reply)
			for range 2 { // of which one finds no place
				go func() { answers <- p.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)) }()
			}
			assert.Equal(t, http.StatusTooManyRequests, (<-answers).Status)
			p.Terminate()
			shuttingDown.Assert(t, site.ChatPath, <-answers)
			p.AssertExits()
		})
	}
}

// If the grace period of the previous configuration had ended, and the new configuration had
// none, the process once ended without an error event for waiting clients.
func TestStreamsThatNoServerWaitsForGetAnErrorWithoutAGracePeriodToo(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	block := site.Direct.Provider("p", provider)
	p := site.StartProcess(t, "grace_period 1ms", block)
	left := stalledStream(p, provider, gatewaytest.NewGate(t), site.ChatPath)
	p.Reload("", block, "max_body 1MiB")
	p.Wait("server shutdown") // its grace period is over
	p.Terminate()
	whole := left.Rest()
	require.NoError(t, whole.Err, "the body ends in order")
	assert.True(t, strings.HasSuffix(whole.Body, shuttingDown.Event(site.ChatPath, whole.ID())), whole.Body)
	p.AssertExits()
}

// Without a grace period, the process waits until all streams have ended.
func TestWithoutAGracePeriodStreamsEndByThemselves(t *testing.T) {
	provider := gatewaytest.NewProvider(t)
	block := site.Direct.Provider("p", provider)
	p := site.StartProcess(t, "", block)
	gate := gatewaytest.NewGate(t)
	old := stalledStream(p, provider, gate, site.MessagesPath)
	p.Reload("", block, "max_body 1MiB")
	open := stalledStream(p, provider, gate, site.ChatPath)
	p.Terminate()
	p.Wait("terminating")
	gate.Open()
	assertSent(t, site.ChatPath, open.Rest().Body)
	assertSent(t, site.MessagesPath, old.Rest().Body) // from before a reload
	p.AssertExits()
}
