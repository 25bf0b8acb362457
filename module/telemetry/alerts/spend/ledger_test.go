package spend

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
)

// The days of another gateway contained the day beside them in zones other than UTC, so that the
// days of a month were twice the month (litellm#29568). Days were also those of the configuration,
// where the database has those of the zone with which it was created.
func TestTheDaysOfAMonthAreTheMonthInAnyZone(t *testing.T) {
	const name = "Asia/Kolkata" // whose days begin at half past an hour of UTC
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	config, err := json.Marshal(map[string]string{"path": filepath.Join(t.TempDir(), "gateway.db")})
	require.NoError(t, err)
	store, err := ctx.LoadModuleByID("ai_gateway.stores.sqlite", config)
	require.NoError(t, err)
	opened, err := store.(accounting.LedgerStore).OpenLedger(accounting.LedgerOptions{Zone: name})
	require.NoError(t, err)
	defer func() { assert.NoError(t, opened.Release()) }()

	const days = 10
	first := time.Date(2026, 10, 1, 0, 0, 0, 0, zone)
	for day := range days {
		for _, minutes := range []int{0, 20, 5*60 + 40, 18*60 + 31, 24*60 - 1} {
			record := accounting.Record{
				Outcome: accounting.OutcomeImported, Admitted: first.AddDate(0, 0, day).Add(time.Duration(minutes) * time.Minute), User: "ada",
				Calls: []accounting.Call{{Provider: "p", Model: "m", Cost: aigateway.Cost{Nanos: int64(day+1) * 1e9, Currency: "USD"}}},
			}
			require.NoError(t, opened.Begin(&record))
			opened.End(&record)
		}
	}
	require.NoError(t, opened.Settled(t.Context()))

	var months, total int64
	r := &Reporter{Ledger: opened, looked: make(map[string]time.Time)}
	daily := make(map[string]int64)
	r.emit = func(_ string, data map[string]any) {
		cost := data["totals"].([]alerts.Sum)[0].CostMicro
		switch assert.Equal(t, name, data["zone"]); data["period"] {
		case "daily":
			daily[data["from"].(string)] = cost
			total += cost
		case "monthly":
			months += cost
		}
	}
	for day := range days + 1 {
		require.NoError(t, r.lookAtAll(t.Context(), first.AddDate(0, 0, day).Add(settling)))
	}
	require.NoError(t, r.lookAtAll(t.Context(), first.AddDate(0, 1, 0).Add(settling)))
	assert.Len(t, daily, days)
	assert.Equal(t, int64(5e6), daily["2026-10-01T00:00:00+05:30"])
	assert.Equal(t, int64(15e6), daily["2026-10-03T00:00:00+05:30"])
	assert.Equal(t, total, months)
}
