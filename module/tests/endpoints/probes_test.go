package endpoints_test

import (
	"net/http"
	"os"
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
