//go:build clients

package clouds_test

import (
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// TestTheVendorsClientsAcceptTheFakes runs the suite of the vendors' own clients against the
// fakes of this package: what these clients send passes, and what the fakes answer can be read.
// npm ci must have installed the suite, which is why a build tag guards the test.
func TestTheVendorsClientsAcceptTheFakes(t *testing.T) {
	b, v, g, a := newBedrock(t), newVertex(t), newGemini(t), newAzure(t)
	token := "token-of-the-suite"
	v.valid.Store(&token)
	certificates := filepath.Join(t.TempDir(), "fakes.pem") // one for all
	require.NoError(t, os.WriteFile(certificates, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate()}), 0o600))

	runSuite(t, "fakes", "clouds.test.js", "NODE_EXTRA_CA_CERTS="+certificates,
		"BEDROCK_URL="+b.URL, "VERTEX_URL="+v.URL, "VERTEX_TOKEN="+token, "GEMINI_URL="+g.URL, "AZURE_URL="+a.URL)
}

// TestTheVendorsClientsWorkOnModelsOfClouds runs the suite of coding agents on Claude in both
// clouds. Nothing is refused, since the agents would repeat it in silence.
func TestTheVendorsClientsWorkOnModelsOfClouds(t *testing.T) {
	b, v := newBedrock(t), newVertex(t)
	s := site.Start(t, b.block("bedrock", "models off"), v.account("vertex", "models off"),
		"model *-bedrock {\nto bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0\n}", "model *-vertex {\nto vertex/claude-sonnet-4-5@20250929\n}")
	runSuite(t, "agents", "clouds.js", "GATEWAY_URL="+s.URL("site", ""), "GATEWAY_KEY="+site.ClientKey)
	for name, fake := range map[string]*cloud{"bedrock": b.cloud, "vertex": v.cloud} {
		assert.GreaterOrEqual(t, fake.Count(), 2*5, "%s: two agents with two turns with calls, and a third one", name)
	}
}

// runSuite runs a file of a folder of testdata/clients.
func runSuite(t *testing.T, folder, file string, env ...string) {
	t.Helper()
	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", file)
	suite.Dir = filepath.Join("../../../testdata/clients", folder)
	suite.Env = append(append(os.Environ(), "FORCE_COLOR=0"), env...)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}
