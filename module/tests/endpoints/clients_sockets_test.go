//go:build clients

package endpoints_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// TestTheVendorsClientsHaveConversations runs the suite of OpenAI's own client for the Realtime API.
func TestTheVendorsClientsHaveConversations(t *testing.T) {
	runSuite(t, "realtime.test.js", withTLS(t, site.StartCaddyfile(t, voiceLines(t, startVoice(t)))))
}

// TestTheVendorsClientsHaveSessions runs the suite of OpenAI's own client for its Live API.
func TestTheVendorsClientsHaveSessions(t *testing.T) {
	runSuite(t, "sessions.test.js", withTLS(t, site.StartCaddyfile(t, timedLines(t, startTimed(t)))))
}

// withTLS returns the address of a server with TLS in front of a site, for clients that know wss alone.
func withTLS(t *testing.T, s *site.Site) string {
	address, err := url.Parse(s.URL("site", ""))
	require.NoError(t, err)
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(address))
	t.Cleanup(front.Close)
	return front.URL
}

// TestTheVendorsClientsAreLive runs the suite of Google's own client for the Live API.
func TestTheVendorsClientsAreLive(t *testing.T) {
	runSuite(t, "live.test.js", site.StartCaddyfile(t, liveLines(t, startLive(t))).URL("site", ""))
}

// TestTheVendorsClientsStore runs the suite of OpenAI's own clients for what they store at a provider.
func TestTheVendorsClientsStore(t *testing.T) {
	s := startStoring(t, site.Direct)
	t.Setenv("OTHER_KEY", otherKey)
	runSuite(t, "stored.test.js", s.URL("site", ""))
}

func runSuite(t *testing.T, name, address string) {
	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", name)
	suite.Dir = filepath.FromSlash("../../../testdata/clients/fakes")
	suite.Env = append(os.Environ(), "FORCE_COLOR=0", "NODE_TLS_REJECT_UNAUTHORIZED=0", "GATEWAY_URL="+address, "GATEWAY_KEY="+site.ClientKey)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}

// codexOnSockets makes Codex use a WebSocket of the gateway.
const codexOnSockets = `model = "gpt"
model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.gateway]
name = "gateway"
base_url = "URL/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
supports_websockets = true
request_max_retries = 0
stream_max_retries = 0
`

// Codex waits for seconds, and then falls back to POST, if anything about its WebSocket does not suit it.
func TestTheVendorsClientsKeepTheirSocket(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v)
	home, err := filepath.Abs("../../../testdata/clients/agents/node_modules/@openai/codex/bin/codex.js")
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, ".codex", "config.toml"), []byte(strings.ReplaceAll(codexOnSockets, "URL", s.URL("site", ""))), 0o600))
	codex := exec.CommandContext(site.Waiting(t), "node", home, "exec", "--json", "--skip-git-repo-check", "hello")
	codex.Dir = folder
	codex.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "CODEX_HOME=" + filepath.Join(folder, ".codex"), "GATEWAY_KEY=" + site.ClientKey}
	out, err := codex.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), `"turn.completed"`)
	assert.NotEmpty(t, v.received(), "no request came over the WebSocket: %s", out)
	assert.Len(t, v.dials(), 1, "and none by POST")
}
