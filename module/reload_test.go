package module_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// persistently is for tests that reload the configuration.
func (s *site) persistently() *site {
	s.Persist()
	return s
}

// inFlight opens n streams that wait at the gate in the middle of their answer.
func (s *site) inFlight(p *gatewaytest.Provider, gate *gatewaytest.Gate, n int) []*stream {
	s.t.Helper()
	list := make([]*stream, n)
	for i := range list {
		path := callPaths[i%len(callPaths)]
		events := streams[path]
		p.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-2]...),
			gatewaytest.Stall(gate, more(events[len(events)-2:]...)),
		))
		list[i] = s.open(path, bodyFor(path, "m", "hello", true))
		for !strings.Contains(list[i].next(), "Hi") {
		}
	}
	return list
}

func assertWhole(t *testing.T, list []*stream) {
	t.Helper()
	for i, open := range list {
		path := callPaths[i%len(callPaths)]
		assert.Equal(t, strings.Join(streams[path], ""), open.rest().body)
	}
}

// Reloads run Cleanup while the streams of the configuration before go on (T3).
// The grace period is over long before they end.
func TestReloadsBreakNoStream(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p, healthy := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		healthy.Always(gatewaytest.Body(http.StatusOK, "text/plain", nil))
		t.Setenv("OTHER_KEY", "sk-the-other-key")
		config := func(lines ...string) string {
			lines = append(lines, w.provider("p", p, "health_uri /health", "health_upstream "+healthy.Address(), "fail_duration 1m"))
			return "{\ngrace_period 1ms\n}\n" + siteBlock("", lines...)
		}
		if w == direct {
			config = func(lines ...string) string {
				return "{\ngrace_period 1ms\n}\n" + siteBlock("", append(lines, w.provider("p", p))...)
			}
		}
		s := startCaddyfile(t, config("key other {env.OTHER_KEY}")).persistently()
		gate := gatewaytest.NewGate(t)
		list := s.inFlight(p, gate, 24)
		body := bodyFor(chatPath, "m", "hello", true)
		assert.Equal(t, http.StatusOK, s.ask(chatPath, body, "Authorization", "Bearer sk-the-other-key").status)

		require.NoError(t, s.Reload(config("key other {env.OTHER_KEY}", "max_body 1MiB")))
		list = append(list, s.inFlight(p, gate, 3)...)
		require.Error(t, s.Reload(config("provider broken vllm {\nto \n}")))
		assert.Equal(t, http.StatusOK, s.ask(chatPath, body, "Authorization", "Bearer sk-the-other-key").status)
		require.NoError(t, s.Reload(config()))

		assert.Equal(t, http.StatusOK, s.ask(chatPath, body).status)
		refused := s.ask(chatPath, body, "Authorization", "Bearer sk-the-other-key")
		assert.Equal(t, http.StatusUnauthorized, refused.status, "the key was removed")
		gate.Open()
		assertWhole(t, list)
		assert.Zero(t, p.Cancelled())
	})
}

func TestAStreamUnderTheOldConfigurationStillFailsOver(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		gate := gatewaytest.NewGate(t)
		first.Script(gatewaytest.Stall(gate, gatewaytest.Status(http.StatusServiceUnavailable)))
		old := siteBlock("", "commit_after 1ms", w.provider("first", first, "models 1"), w.provider("second", second, "models 2"),
			"model m {\nto first\nto second\n}")
		s := startCaddyfile(t, old).persistently()
		open := s.open(messagesPath, bodyFor(messagesPath, "m", "hello", true))
		require.NoError(t, s.Reload(siteBlock("", w.provider("first", first))))
		gate.Open()
		assert.True(t, open.rest().read(t, messagesPath).complete)
		assert.Equal(t, 1, second.Count(), "the provider that the new configuration does not have")
	})
}

func TestStoppingLetsStreamsFinishWithinTheGracePeriod(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startCaddyfile(t, "{\ngrace_period 20s\n}\n"+siteBlock("", w.provider("p", p)))
		gate := gatewaytest.NewGate(t)
		list := s.inFlight(p, gate, 20)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			assert.NoError(t, caddy.Stop())
		}()
		require.NoError(t, s.Logs.Wait(waiting(t), "servers shutting down; grace period initiated"))
		gate.Open()
		assertWhole(t, list)
		<-stopped
		assert.Zero(t, p.Cancelled())
	})
}

// A provider that several sites inherit is provisioned once, and outlives a
// reload that leaves it as it is.
func TestInheritedProvidersSurviveReloads(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		config := "{\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + w.provider("p", p) + "}\n}\n" +
			"http://127.0.0.1:PORT(site) {\nai_gateway\n}\nhttp://127.0.0.1:PORT(other) {\nai_gateway\n}\n"
		s := startCaddyfile(t, config).persistently()
		for i := range 3 {
			assert.Equal(t, http.StatusOK, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).status)
			response := s.Post(s.URL("other", chatPath), bodyFor(chatPath, "m", "hello", false), "Authorization", "Bearer "+clientKey)
			assert.Equal(t, http.StatusOK, response.StatusCode, fmt.Sprint(i))
			_ = response.Body.Close()
			require.NoError(t, s.Reload(config))
		}
	})
}
