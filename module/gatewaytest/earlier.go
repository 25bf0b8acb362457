package gatewaytest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// SpendEarlier adds a call to the ledger in a file of SQLite that no gateway uses: 2 USD of the key
// ci of the user ada in the team research, for the model fast of the provider p.
func SpendEarlier(t testing.TB, file string, moment time.Time) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	config, err := json.Marshal(map[string]string{"path": file})
	require.NoError(t, err)
	store, err := ctx.LoadModuleByID("ai_gateway.stores.sqlite", config)
	require.NoError(t, err)
	ledger, err := store.(accounting.LedgerStore).OpenLedger(accounting.LedgerOptions{})
	require.NoError(t, err)
	record := accounting.Record{
		Outcome: accounting.OutcomeImported, Admitted: moment, Key: "ci", User: "ada", Limit: "research", Model: "fast",
		Calls: []accounting.Call{{Provider: "p", Model: "m", Cost: aigateway.Cost{Nanos: 2e9, Currency: "USD"}}},
	}
	require.NoError(t, ledger.Begin(&record))
	ledger.End(&record)
	require.NoError(t, ledger.Settled(context.Background()))
	require.NoError(t, ledger.Release())
}
