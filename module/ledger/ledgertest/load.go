package ledgertest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// loaded is a backend that calls write during each transaction that writes records.
type loaded struct {
	database.Backend
	write func()
}

func (l loaded) Dialect() database.Dialect {
	d := l.Backend.Dialect()
	bind := d.Bind
	d.Bind = func(query string) string {
		if strings.HasPrefix(query, "UPDATE gateway_ledger_nodes") {
			l.write()
		}
		if bind == nil {
			return query
		}
		return bind(query)
	}
	return d
}

// Settled once returned only when no record had ended during the last transaction. Under
// load, that took as long as the load, and each transaction wrote only a few records.
func settledUnderLoad(t *testing.T, d Database) {
	var l *ledger.Ledger
	var err error
	l, err = ledger.Open(accounting.LedgerOptions{Journal: journalOf(t)}, loaded{d(), func() { write(t, l, Example()) }}, zap.NewNop)
	require.NoError(t, err)
	write(t, l, Example())
	require.NoError(t, l.Settled(t.Context()))
	assert.Positive(t, total(t, l).Requests)
	require.NoError(t, l.Close())
}
