//go:build clients

package usage_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// TestX034TheVendorsClientsUseBatches runs the suite of Anthropic's own client: it makes no request to
// another host than the gateway. npm ci must have installed the suite, which is why a build tag guards
// the test.
func TestX034TheVendorsClientsUseBatches(t *testing.T) {
	b := startBatching(t)
	s := site.Start(t, withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(b.URL, "http://"), "format messages", "batches sealed", "models m"))...)
	runSuite(t, "batches.test.js", "GATEWAY_URL="+s.URL("site", ""), "VENDOR_URL="+b.URL)
}

// TestTheVendorsClientsUseFiles is the same for files.
func TestTheVendorsClientsUseFiles(t *testing.T) {
	f := startClaudeFiles(t)
	s := site.Start(t, site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format messages", "files_state sealed", "models claude"))
	runSuite(t, "files.test.js", "GATEWAY_URL="+s.URL("site", ""))
}

// The suite of OpenAI's own client stores files and uploads, and creates batches of files, with the purpose
// before the file and behind it.
func TestTheVendorsClientsUseBatchesOfFiles(t *testing.T) {
	f := startFiling(t)
	s := site.Start(t, withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(f.URL, "http://"), "format chat", "files_state sealed", "batches sealed", "models m"))...)
	runSuite(t, "batchfiles.test.js", "GATEWAY_URL="+s.URL("site", ""), "VENDOR_URL="+f.URL)
}

// The suite of Google's own client stores files, in one piece and in several, names them in requests, and creates
// batches of them, with a key that has a budget.
func TestTheVendorsClientsUseFilesOfTheGeminiAPI(t *testing.T) {
	site.SetKeys(t)
	g := startGoogle(t)
	s := site.Start(t, withLedger(t, site.Direct.ProviderAt("p", strings.TrimPrefix(g.URL, "http://"), halfDollars, "format gemini", "files_state sealed", "batches sealed"),
		"limit large {\nbudget 1000000/month\n}", "key alice {env.KEY_ALICE} {\nlimit large\n}")...)
	runSuite(t, "gemini.test.js", "GATEWAY_URL="+s.URL("site", ""), "VENDOR_URL="+g.URL, "GATEWAY_KEY="+site.AliceKey)
}

// The suite of the official clients of the Model Context Protocol uses the official servers of both eras: one at
// its path, and two as one.
func TestTheVendorsClientsUseServersOfTools(t *testing.T) {
	site.SetKeys(t)
	t.Setenv("UP_TOKEN", "token-of-the-server")
	modern, everything := freePort(t), freePort(t)
	s := site.Start(t, site.DemoProvider,
		"key alice {env.KEY_ALICE} {\nmcp modern everything sums\n}", "key bob {env.KEY_BOB} {\nmcp modern notes/delete_*\n}",
		"mcp modern {\nto http://127.0.0.1:"+modern+"/mcp\nauth bearer {env.UP_TOKEN}\ntools search_*\n}",
		"mcp notes {\nto http://127.0.0.1:"+modern+"/mcp\nauth bearer {env.UP_TOKEN}\n}",
		"mcp everything {\nto http://127.0.0.1:"+everything+"/mcp\ntools echo\n}",
		"mcp sums {\nto http://127.0.0.1:"+everything+"/mcp\ntools get-sum\n}")
	runSuite(t, "mcp.test.js", "GATEWAY_URL="+s.URL("site", ""), "ALICE_KEY="+site.AliceKey, "BOB_KEY="+site.BobKey, "MODERN_PORT="+modern, "EVERYTHING_PORT="+everything)
}

// The coding agents use servers of tools, too. npm ci must have installed their suite as well.
func TestTheVendorsClientsUseServersOfToolsAsAgents(t *testing.T) {
	site.SetKeys(t)
	everything := freePort(t)
	s := site.Start(t, site.DemoProvider, "key alice {env.KEY_ALICE} {\nmcp everything sums\n}",
		"mcp everything {\nto http://127.0.0.1:"+everything+"/mcp\ntools echo\n}", "mcp sums {\nto http://127.0.0.1:"+everything+"/mcp\ntools get-sum\n}")
	runSuite(t, "../agents/servers.suite.js", "GATEWAY_URL="+s.URL("site", ""), "GATEWAY_KEY="+site.AliceKey, "EVERYTHING_PORT="+everything)
}

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// runSuite runs a suite with variables of its environment.
func runSuite(t *testing.T, name string, environment ...string) {
	t.Helper()
	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", name)
	suite.Dir = filepath.FromSlash("../../../testdata/clients/fakes")
	suite.Env = append(append(os.Environ(), "FORCE_COLOR=0", "GATEWAY_KEY="+site.ClientKey), environment...)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}
