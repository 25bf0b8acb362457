package usage_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// L027: what clients have got is in the ledger after kill -9, once, with what the
// provider counted; what ran is crashed.
func TestL027AKilledGatewayLosesNoRecord(t *testing.T) {
	t.Parallel()
	const whole = 5
	dir := t.TempDir()
	p := gatewaytest.NewProvider(t)
	lines := []string{
		"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}", site.Direct.Provider("p", p, priced),
	}
	for range 2 {
		gateway := site.StartProcess(t, "", lines...)
		for range whole {
			require.Equal(t, http.StatusOK, gateway.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true)).Status)
		}
		stalledStream(t, p, gateway.Open)
		gateway.Kill()
	}
	site.StartProcess(t, "", lines...)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		out := site.RunCommand(t, "ai-gateway usage --by outcome,model --config "+caddyfileOf(t, dir)+" --adapter caddyfile")
		rows := strings.Split(strings.TrimSpace(out), "\n")
		if assert.Len(c, rows, 4, out) {
			assert.Equal(c, []string{"OUTCOME", "MODEL", "REQUESTS"}, strings.Fields(rows[0])[:3])
			assert.Equal(c, []string{"answered", "m", "10"}, strings.Fields(rows[1])[:3])
			assert.Equal(c, []string{"crashed", "m", "2"}, strings.Fields(rows[2])[:3])
			assert.Equal(c, []string{"total", "12"}, strings.Fields(rows[3])[:2])
		}
	}, site.Patience, 200e6)
}

// L037: two processes with one journal would each write a part of the records. The error had no place in
// the Caddyfile, since the ledger is opened when the configuration starts.
func TestL037ASecondProcessDoesNotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := gatewaytest.NewProvider(t)
	lines := []string{"store sqlite " + dir + "/gateway.db", "ledger {\njournal " + dir + "/journal\n}", site.Direct.Provider("p", p)}
	site.StartProcess(t, "", lines...)
	second := site.StartProcess(t, "", site.Direct.Provider("p", p))
	for _, text := range []string{"another process uses the journal", ", at Caddyfile:"} {
		second.AssertRefuses(text, "", lines...)
	}
}

// caddyfileOf writes a Caddyfile with the store in a folder, for commands.
func caddyfileOf(t testing.TB, dir string) string {
	path := filepath.Join(dir, "Caddyfile")
	require.NoError(t, os.WriteFile(path, []byte(":0 {\nai_gateway {\nstore sqlite "+dir+"/gateway.db\nprovider demo\n}\n}\n"), 0o600))
	return path
}
