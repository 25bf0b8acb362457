package lifecycle_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// inFlight opens n streams that wait at the gate in the middle of their answer.
func inFlight(s *site.Site, p *gatewaytest.Provider, gate *gatewaytest.Gate, n int) []*site.Stream {
	s.T.Helper()
	list := make([]*site.Stream, n)
	for i := range list {
		path := site.ClientPaths[i%len(site.ClientPaths)]
		p.Script(site.WaitingAt(gate))
		list[i] = s.Open(path, site.BodyFor(path, "m", "hello", true))
		list[i].NextUntil(`"Hi"`)
	}
	return list
}

func assertWhole(t *testing.T, list []*site.Stream) {
	t.Helper()
	for _, open := range list {
		assertSent(t, site.Called(open.Request.URL.Path), open.Rest().Body)
	}
}

// assertSent checks that a client has got the whole stream of a path, with keep-alives if the
// test takes long on a busy machine.
func assertSent(t *testing.T, path, body string) {
	t.Helper()
	assert.Equal(t, site.WithoutKeepAlives(path, strings.Join(site.Streams[path], "")), site.WithoutKeepAlives(path, body))
}

// Reloads run Cleanup while streams of the previous configuration are still running (T3).
// The grace period ends long before these streams.
func TestReloadsBreakNoStream(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p, healthy := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		healthy.Always(gatewaytest.Body(http.StatusOK, "text/plain", nil))
		t.Setenv("OTHER_KEY", "sk-the-other-key")
		config := func(lines ...string) string {
			lines = append(lines, "accounts off", w.Provider("p", p, "health_uri /health", "health_upstream "+healthy.Address(), "fail_duration 1m"))
			return "{\ngrace_period 1ms\n}\n" + site.Block("", lines...)
		}
		if w == site.Direct {
			config = func(lines ...string) string {
				return "{\ngrace_period 1ms\n}\n" + site.Block("", append(lines, "accounts off", w.Provider("p", p))...)
			}
		}
		s := site.StartCaddyfile(t, config("key other {env.OTHER_KEY}"))
		gate := gatewaytest.NewGate(t)
		list := inFlight(s, p, gate, 24)
		body := site.BodyFor(site.ChatPath, "m", "hello", true)
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, body, "Authorization", "Bearer sk-the-other-key").Status)

		require.NoError(t, s.Reload(config("key other {env.OTHER_KEY}", "max_body 1MiB")))
		list = append(list, inFlight(s, p, gate, 3)...)
		require.Error(t, s.Reload(config("provider broken vllm {\nto \n}")))
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, body, "Authorization", "Bearer sk-the-other-key").Status)
		require.NoError(t, s.Reload(config()))

		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, body).Status)
		refused := s.Ask(site.ChatPath, body, "Authorization", "Bearer sk-the-other-key")
		assert.Equal(t, http.StatusUnauthorized, refused.Status, "the key was removed")
		gate.Open()
		assertWhole(t, list)
		assert.Zero(t, p.Cancelled())
	})
}

func TestAStreamUnderTheOldConfigurationStillFailsOver(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		gate := gatewaytest.NewGate(t)
		first.Script(gatewaytest.Stall(gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		old := site.Block("", "commit_after 1ms", w.Provider("first", first, "models 1"), w.Provider("second", second, "models 2"),
			"model m {\nto first\nto second\n}")
		s := site.StartCaddyfile(t, old)
		open := s.Open(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true))
		require.NoError(t, s.Reload(site.Block("", w.Provider("first", first))))
		gate.Open()
		assert.True(t, open.Rest().Read(t, site.MessagesPath).Complete)
		assert.Equal(t, 1, second.Count(), "the provider that the new configuration does not have")
	})
}

func TestStoppingLetsStreamsFinishWithinTheGracePeriod(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, "{\ngrace_period 20s\n}\n"+site.Block("", w.Provider("p", p)))
		gate := gatewaytest.NewGate(t)
		list := inFlight(s, p, gate, 20)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			assert.NoError(t, caddy.Stop())
		}()
		require.NoError(t, s.Logs.Wait(site.Waiting(t), "servers shutting down; grace period initiated"))
		gate.Open()
		assertWhole(t, list)
		<-stopped
		assert.Zero(t, p.Cancelled())
	})
}

// A provider that several sites inherit is provisioned once, and survives a reload that
// does not change it.
func TestInheritedProvidersSurviveReloads(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		config := "{\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + w.Provider("p", p) + "}\n}\n" +
			"http://127.0.0.1:PORT(site) {\nai_gateway\n}\nhttp://127.0.0.1:PORT(other) {\nai_gateway\n}\n"
		s := site.StartCaddyfile(t, config)
		for i := range 3 {
			assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
			response := s.Post(s.URL("other", site.ChatPath), site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer "+site.ClientKey)
			assert.Equal(t, http.StatusOK, response.StatusCode, fmt.Sprint(i))
			_ = response.Body.Close()
			require.NoError(t, s.Reload(config))
		}
	})
}
