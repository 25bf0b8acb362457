package ledgertest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// Apply measures the cost of a record from Begin until it is in the database.
func Apply(b *testing.B, d Database) {
	l, err := ledger.Open(accounting.LedgerOptions{Journal: journalOf(b)}, d(), zap.NewNop)
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		r := Example()
		require.NoError(b, l.Begin(&r))
		l.End(&r)
	}
	require.NoError(b, l.Settled(b.Context()))
}
