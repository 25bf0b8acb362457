package command

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// The sum of a month once had to be added up by hand, and calls of unknown cost were easily
// missed.
func TestTotalsAreByCurrencyAndLowerBoundsIfACostIsUnknown(t *testing.T) {
	lines := func(sums ...api.Usage) (totals []string) {
		var out bytes.Buffer
		require.NoError(t, printUsage(&out, []string{"user"}, sums))
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1+len(sums):] {
			totals = append(totals, strings.Join(strings.Fields(line), " "))
		}
		return totals
	}
	dollars := api.Usage{User: "alice", Requests: 1, Tokens: api.Tokens{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}, CostMicro: 1_500_000, Currency: "USD"}
	euros := api.Usage{User: "bob", Requests: 2, CostMicro: 250_000, Currency: "EUR", Floor: true}
	assert.Equal(t, []string{"total 2 0 0 0 0 at least 0.250000 EUR", "total 2 2 4 6 8 3.000000 USD"}, lines(dollars, euros, dollars))
	unknown := api.Usage{User: "carol", Requests: 1, Floor: true}
	assert.Equal(t, []string{"total 1 0 0 0 0 unknown", "total 2 0 0 0 0 at least 0.250000 EUR", "total 1 1 2 3 4 at least 1.500000 USD"},
		lines(dollars, euros, unknown), "a call of unknown cost may be of any currency")
	assert.Equal(t, []string{"total 3 2 4 6 8 at least 3.000000 USD"}, lines(dollars, dollars, unknown))
	refused := api.Usage{User: "dave", Requests: 5}
	assert.Equal(t, []string{"total 6 1 2 3 4 1.500000 USD"}, lines(dollars, refused))
	assert.Empty(t, lines(dollars), "one sum is its own total")
}

// answers is an admin API that answers each request with the next text.
type answers struct{ texts []string }

func (a *answers) send(string, string, []byte) ([]byte, error) {
	text := a.texts[0]
	a.texts = a.texts[1:]
	return []byte(text), nil
}

func (*answers) close() {}

// After an outage, a table without the records of the last minutes looked complete.
func TestListsReportALedgerThatIsBehind(t *testing.T) {
	for behind, want := range map[string]string{
		"null": "", "0": "", "4": "",
		"176": "The ledger is 2m56s behind: records of this time wait for the database, and are missing here.\n",
	} {
		var messages bytes.Buffer
		pages := &answers{[]string{`{"items":[{}],"next":"x","behind_seconds":` + behind + `}`, `{"items":[{}],"next":"","behind_seconds":` + behind + `}`}}
		items, err := list{path: usagePath, query: make(url.Values)}.read(pages, &messages)
		require.NoError(t, err)
		assert.Len(t, items, 2)
		assert.Equal(t, want, messages.String(), "once for all pages")
	}
}

func TestFlagsOfRecordsNeedRecords(t *testing.T) {
	freshData(t)
	for line, want := range map[string]string{
		"usage --request req_1":         "--request needs --records",
		"usage --limit 3":               "--limit needs --records",
		"usage --records --limit -1":    "--limit must be a positive number, or 0",
		"usage --records --by model":    "none of the others can be",
		"usage --json --csv":            "none of the others can be",
		"usage --records --from monday": "from must be a date",
	} {
		_, _, err := execute(t, "", line)
		assert.ErrorContains(t, err, want, line)
	}
}

// Sums that an import brought from another gateway were shown as 0.
func TestImportedSumsHaveTheirCost(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printRecords(&out, []json.RawMessage{
		json.RawMessage(`{"outcome":"imported","calls":[{"cost_nano":187043211000,"currency":"USD","source":"none","price":"import"}]}`),
		json.RawMessage(`{"outcome":"refused","calls":[{"source":"none"}]}`),
	}))
	assert.Contains(t, out.String(), "187.043211000 USD")
	assert.Equal(t, 1, strings.Count(out.String(), "USD"))
}

// The table of records had no number of the images that it charged.
func TestRecordsShowTheirUnits(t *testing.T) {
	for calls, want := range map[string]string{
		`{"images":3,"searches":1}`:        "images: 3, searches: 1",
		`{"seconds":60}`:                   "seconds: 60",
		`{"characters":1000,"queries":2}`:  "characters: 1000, queries: 2",
		`{"input_tokens":77,"seconds":-1}`: "",
	} {
		var out bytes.Buffer
		require.NoError(t, printRecords(&out, []json.RawMessage{json.RawMessage(`{"model":"m","calls":[` + calls + `]}`)}))
		header, row, _ := strings.Cut(out.String(), "\n")
		from, to := strings.Index(header, "UNITS"), strings.Index(header, "COST")
		assert.Equal(t, want, strings.TrimSpace(row[from:to]), calls)
	}
}
