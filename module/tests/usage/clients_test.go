//go:build clients

package usage_test

import (
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
	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", "batches.test.js")
	suite.Dir = filepath.FromSlash("../../../testdata/clients/fakes")
	suite.Env = append(os.Environ(), "FORCE_COLOR=0", "GATEWAY_URL="+s.URL("site", ""), "GATEWAY_KEY="+site.ClientKey, "VENDOR_URL="+b.URL)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}
