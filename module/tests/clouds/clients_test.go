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

	suite := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-timeout=120000", "clouds.test.js")
	suite.Dir = filepath.FromSlash("../../../testdata/clients/fakes")
	suite.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+certificates, "FORCE_COLOR=0",
		"BEDROCK_URL="+b.URL, "VERTEX_URL="+v.URL, "VERTEX_TOKEN="+token, "GEMINI_URL="+g.URL, "AZURE_URL="+a.URL)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^ℹ pass [1-9]`, string(out))
	assert.Contains(t, string(out), "ℹ skipped 0\n")
}
