package endpoints_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// probe sends a probe without a key.
func probe(s *site.Site, method, path string) site.Reply {
	return s.Raw("", method+" "+path+" HTTP/1.1")
}

// Every path of a site once answered an empty 200, so that the probe of a load balancer
// could not fail.
func TestProbesNeedNoKey(t *testing.T) {
	s, _, document := describedSite(t)
	for path, want := range map[string]string{"/livez": `{"status":"live"}`, "/readyz": `{"status":"ready"}`} {
		assert.Eventually(t, func() bool { return probe(s, http.MethodGet, path).Status == http.StatusOK }, site.Patience, site.PollEvery)
		answer := probe(s, http.MethodGet, path)
		assert.Equal(t, want, answer.Body)
		assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
		assert.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
		assert.Empty(t, document.Check(http.MethodGet, path, answer.Status, []byte(answer.Body)))

		answer = probe(s, http.MethodHead, path)
		assert.Equal(t, http.StatusOK, answer.Status)
		assert.Empty(t, answer.Body)
	}
}

// probeAs sends a probe for a host. Caddy closes the listener of the configuration before a reload in the
// background, and connections that wait there break off: their probes are sent again.
func probeAs(s *site.Site, method, host, path string) site.Reply {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", method, path, host)
	for range 10 {
		if answer, err := s.TryBytes(text); err == nil {
			return answer
		}
	}
	return s.RawBytes(text)
}

// named is a site at PORT(site) with a host name.
func named(host, lines string) string {
	return "http://" + host + ":PORT(site) {\nbind 127.0.0.1\n" + lines + "\n}\n"
}

// Kubernetes probed a pod by its address, which is the name of no site, and Caddy's empty 200 meant
// that the gateway was ready, whatever its state was.
func TestAProbeByAddressIsAnsweredByTheGateway(t *testing.T) {
	path := t.TempDir() + "/gateway.db"
	gateway := "ai_gateway {\nkey client {env.CLIENT_KEY}\n" + site.DemoProvider + "\n"
	sites := []string{
		named("ai.example.com", gateway+"store sqlite "+path+"\nledger off\n}"),
		named("second.example.com", gateway+"}"),
		named("other.example.com", "handle /readyz {\nrespond other\n}\nhandle {\nerror 418\n}\nhandle_errors {\nrespond handled 200\n}"),
		named("quiet.example.com", "header X-Quiet yes"),
	}
	for name, more := range map[string]string{
		"no site takes it": "", "a site without a name takes it": "http://:PORT(site) {\nbind 127.0.0.1\nrespond mine\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			caddyfile := strings.Join(sites, "") + more
			s := site.StartCaddyfile(t, caddyfile)
			ready, live, other := `{"status":"ready"}`, `{"status":"live"}`, ""
			if more != "" {
				ready, live, other = "mine", "mine", "mine"
			}
			require.NoError(t, s.Reload(caddyfile))
			require.Eventually(t, func() bool {
				return probeAs(s, http.MethodGet, "ai.example.com", "/readyz").Status == http.StatusOK
			}, site.Patience, site.PollEvery)
			for _, c := range []struct{ method, host, path, body string }{
				{"GET", "10.0.0.7", "/readyz", ready}, {"GET", "10.0.0.7:8080", "/readyz?exclude=store", ready},
				{"GET", "[fd00::7]:8080", "/readyz", ready}, {"GET", "pod.example.com", "/livez", live},
				{"HEAD", "10.0.0.7", "/readyz", ""}, {"POST", "10.0.0.7", "/readyz", other},
				{"GET", "10.0.0.7", "/readyz/more", other}, {"GET", "10.0.0.7", "/v1/models", other},
				{"GET", "ai.example.com", "/readyz", `{"status":"ready"}`}, {"GET", "second.example.com", "/livez", `{"status":"live"}`},
				{"GET", "other.example.com", "/readyz", "other"}, {"GET", "other.example.com", "/livez", "handled"},
				{"GET", "quiet.example.com", "/readyz", ""},
			} {
				answer := probeAs(s, c.method, c.host, c.path)
				assert.Equal(t, http.StatusOK, answer.Status, "%v", c)
				assert.Equal(t, c.body, answer.Body, "%v", c)
			}
			assert.Contains(t, site.ReadReply(s.Get(s.AdminURL("/config/apps/http/servers"))).Body, "quiet.example.com", "the routes are shown as they are configured")
			if more != "" {
				return
			}
			require.NoError(t, os.Rename(path, path+".away"))
			require.Eventually(t, func() bool {
				return probeAs(s, http.MethodGet, "10.0.0.7", "/readyz").Status == http.StatusServiceUnavailable
			}, site.Patience, site.PollEvery)
			assert.Equal(t, http.StatusOK, probeAs(s, http.MethodGet, "second.example.com", "/readyz").Status, "its own site needs no store")
			require.NoError(t, os.Rename(path+".away", path))
		})
	}
}

// The paths stay free for a site that needs them: its handle blocks come first.
func TestASiteMayAnswerProbesItself(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("handle /readyz {\nrespond own\n}\nhandle /livez/more {\nrespond more\n}\n@post method POST\nhandle @post {\nrespond posted\n}\n", site.DemoProvider))
	assert.Equal(t, "own", probe(s, http.MethodGet, "/readyz").Body)
	assert.Equal(t, "more", probe(s, http.MethodGet, "/livez/more").Body)
	assert.Equal(t, "posted", probe(s, http.MethodPost, "/livez").Body)
	assert.Equal(t, `{"status":"live"}`, probe(s, http.MethodGet, "/livez").Body)
}

func TestAGatewayWithoutItsStoreIsLiveAndNotReady(t *testing.T) {
	path := t.TempDir() + "/gateway.db"
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "store sqlite "+path, "ledger off", site.Direct.Provider("p", p))
	waitStatus := func(path string, status int) {
		t.Helper()
		require.Eventually(t, func() bool { return probe(s, http.MethodGet, path).Status == status }, site.Patience, site.PollEvery, path)
	}
	waitStatus("/readyz", http.StatusOK)
	require.NoError(t, os.Rename(path, path+".away"))
	waitStatus("/readyz", http.StatusServiceUnavailable)
	assert.JSONEq(t, `{"status":"not ready","reason":"the store is not available"}`, probe(s, http.MethodGet, "/readyz").Body)
	assert.Equal(t, http.StatusOK, probe(s, http.MethodGet, "/readyz?exclude=store").Status, "known keys are served")
	assert.Equal(t, http.StatusOK, probe(s, http.MethodGet, "/livez").Status)
	require.NoError(t, os.Rename(path+".away", path))
	waitStatus("/readyz", http.StatusOK)
}
