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

func ask(t *testing.T, s *site.Site, model string) {
	t.Helper()
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", false)).Status)
}

// The ledger was off unless it was asked for: who wanted to know after a month what had
// been used had nothing.
func TestTheLedgerIsOnWhereAStoreIs(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "store sqlite "+t.TempDir()+"/gateway.db", site.Direct.Provider("p", p, priced))
	ask(t, s, "m")
	assert.Positive(t, settled(t, s, "model", 1)[0].Cost)
}

func TestTheLedgerCanBeSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "store sqlite "+dir+"/gateway.db", "ledger off", site.Direct.Provider("p", p, priced))
	ask(t, s, "m")
	assert.NoDirExists(t, dir+"/gateway-journal")
	assert.Empty(t, read(t, s, "model"))
}

// A price that is found to be wrong later is corrected once, with an explanation.
func TestL046CostsAreCorrectedByTheNearestPrice(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	table := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(table, []byte("provider,models,input,output\nlisted,m,1,1\n"), 0o600))
	lines := func(price string) []string {
		return []string{
			"catalog " + table, site.Direct.Provider("p", p, "listed_as listed", "models m"),
			site.Direct.Provider("q", p, "models off"),
			"model other {\nto q/up {\n" + price + "\n}\n}",
		}
	}
	store := withLedger(t)
	s := site.Start(t, append(store, lines("price input 2 output 2")...)...)
	ask(t, s, "m")
	ask(t, s, "other")
	before := settled(t, s, "model", 2)
	tokens := before[0].Input + before[0].Output
	assert.Equal(t, tokens, before[0].Cost, "of the file")
	assert.Equal(t, 2*tokens, before[1].Cost, "of the target")

	require.NoError(t, s.Reload(site.Block("", append(store, lines("price input 5 output 5")...)...)))
	command := "ai-gateway usage reprice --address " + strings.TrimPrefix(s.AdminURL(""), "http://")
	out := site.RunCommand(t, command+" --dry-run")
	assert.Contains(t, out, "Nothing has changed")
	assert.Equal(t, before, read(t, s, "model"))
	out = site.RunCommand(t, command)
	rows := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, rows, 3, out)
	assert.Equal(t, "Calls whose cost changed: 1 with a known price, 0 without one.", rows[2])
	assert.Regexp(t, `^q +up +1 +target q \* USD 2/2 #[0-9a-f]+ +0\.\d+ USD +target q \* USD 5/5 #[0-9a-f]+ +0\.\d+ USD$`, rows[1])
	assert.Equal(t, "No cost changes.\n", site.RunCommand(t, command), "once")
	after := read(t, s, "model")
	assert.Equal(t, before[0], after[0])
	assert.Equal(t, 5*tokens, after[1].Cost)
}
