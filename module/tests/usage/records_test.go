package usage_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// usageCommand runs caddy ai-gateway usage with the admin API of a site.
func usageCommand(t *testing.T, s *site.Site, flags string) string {
	t.Helper()
	return site.RunCommand(t, "ai-gateway usage --address "+strings.TrimPrefix(s.AdminURL(""), "http://")+" "+flags)
}

// A dispute about one charge could not be settled: nobody could look up a request.
func TestAChargeIsFoundByTheIDOfItsRequest(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced))...)
	ask(t, s, "m")
	wanted := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	require.Equal(t, http.StatusOK, wanted.Status)
	ask(t, s, "m")
	sum := settled(t, s, "model", 3)[0]

	var records []struct {
		Request string
		Calls   []struct {
			Input int64 `json:"input_tokens"`
			Cost  int64 `json:"cost_nano"`
			Price string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(usageCommand(t, s, "--records --json --request "+wanted.ID())), &records))
	require.Len(t, records, 1)
	assert.Equal(t, wanted.ID(), records[0].Request)
	require.Len(t, records[0].Calls, 1)
	assert.Equal(t, sum.Cost*1000, 3*records[0].Calls[0].Cost)
	assert.NotEmpty(t, records[0].Calls[0].Price)

	out := usageCommand(t, s, "--records --limit 2")
	assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 3, "%s", out)
	assert.Contains(t, out, wanted.ID())
	rows, err := csv.NewReader(strings.NewReader(usageCommand(t, s, "--records --csv --key client --outcome answered --model m"))).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, 4)
	assert.Len(t, strings.Split(usageCommand(t, s, "--records --model other"), "\n"), 2, "only the names of the columns")
}

func TestSumsAreAddedUpAndPrintedForPrograms(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	t.Setenv("LIMITED_KEY", "sk-a-limited-key-0123456789")
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "price m* input 3 output 15"), "limit small {\nrequests 100/1m\n}",
		"key limited {env.LIMITED_KEY} {\nlimit small\n}")...)
	ask(t, s, "m")
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m2", "hello", false), "Authorization", "Bearer sk-a-limited-key-0123456789").Status)
	settled(t, s, "model", 2)

	rows := strings.Split(strings.TrimSpace(usageCommand(t, s, "--by model")), "\n")
	require.Len(t, rows, 4)
	assert.Regexp(t, `^MODEL +REQUESTS +INPUT +CACHE READ +CACHE WRITE +OUTPUT +COST$`, rows[0])
	assert.Regexp(t, `^total +2 +\d+ +\d+ +\d+ +\d+ +0\.\d{6} USD$`, rows[3])
	var sums []struct {
		Limit string
		Cost  int64 `json:"cost_micro"`
	}
	require.NoError(t, json.Unmarshal([]byte(usageCommand(t, s, "--by limit --json")), &sums))
	require.Len(t, sums, 2)
	assert.Equal(t, "", sums[0].Limit)
	assert.Equal(t, "small", sums[1].Limit)
	assert.True(t, strings.HasPrefix(usageCommand(t, s, "--by limit,user --csv"), "limit,user,requests,calls,"))
}

// Prices without dates are those of all time. A new price of one model once changed the
// costs of all models whose prices had changed in the meantime.
func TestOnlyTheCostsOfOneModelAreCorrected(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	store := withLedger(t)
	lines := func(price string) []string {
		return append(store, site.Direct.Provider("p", p, "price * input "+price+" output "+price))
	}
	s := site.Start(t, lines("1")...)
	ask(t, s, "a1")
	ask(t, s, "a1")
	ask(t, s, "b1")
	before := settled(t, s, "model", 3)
	require.NoError(t, s.Reload(site.Block("", lines("3")...)))
	reprice := func(flags string) string {
		return site.RunCommand(t, "ai-gateway usage reprice --address "+strings.TrimPrefix(s.AdminURL(""), "http://")+" "+flags)
	}
	assert.Equal(t, "No cost changes.\n", reprice("--provider other"))
	assert.Equal(t, "No cost changes.\n", reprice("--model a"))
	out := reprice("--dry-run --model a* --provider p")
	assert.Contains(t, out, "Calls whose cost would change: 2 with a known price, 0 without one.\n")
	assert.NotContains(t, out, "b1")
	assert.Equal(t, before, read(t, s, "model"))
	assert.Contains(t, reprice("--model a* --provider p"), "Calls whose cost changed: 2 with a known price, 0 without one.\n")
	after := read(t, s, "model")
	assert.Equal(t, 3*before[0].Cost, after[0].Cost)
	assert.Equal(t, before[1], after[1])
	assert.Contains(t, usageCommand(t, s, "--records --json --model a1"), `"corrected": true`)
}
