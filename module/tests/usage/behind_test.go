package usage_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Usage looked complete while its records waited for a database that refused them.
func TestUsageReportsThatItIsBehindUntilTheDatabaseTakesTheRecords(t *testing.T) {
	dir := t.TempDir()
	s := site.Start(t, "store sqlite "+dir+"/gateway.db", "ledger {\njournal "+dir+"/journal\n}", site.DemoProvider)
	type answer struct {
		Items []struct{ Requests int }
		// Behind is nil if it is not known.
		Behind *int `json:"behind_seconds"`
	}
	read := func(t require.TestingT) (a answer) {
		require.NoError(t, json.Unmarshal([]byte(s.Call(http.MethodGet, s.AdminURL("/api/v1/usage"), "").Body), &a))
		require.NotNil(t, a.Behind)
		return a
	}
	require.Zero(t, *read(t).Behind)

	db, err := sql.Open("sqlite", dir+"/gateway-ledger.db")
	require.NoError(t, err)
	defer db.Close()
	rename := func(old, name string) {
		_, err := db.Exec("PRAGMA busy_timeout = 5000; ALTER TABLE " + old + " RENAME TO " + name)
		require.NoError(t, err)
	}
	rename("gateway_ledger_pages", "elsewhere")
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		stale := read(c)
		assert.Positive(c, *stale.Behind)
		assert.Empty(c, stale.Items)
	}, site.Patience, 50e6)

	rename("elsewhere", "gateway_ledger_pages")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		after := read(c)
		assert.Zero(c, *after.Behind)
		if assert.Len(c, after.Items, 1) {
			assert.Equal(c, 1, after.Items[0].Requests)
		}
	}, site.Patience, 50e6)
}
