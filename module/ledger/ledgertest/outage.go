package ledgertest

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// interrupted is a database that cannot be reached while it is away.
type interrupted struct {
	database.Backend
	away *atomic.Bool
}

func (i interrupted) Connect(ctx context.Context) (*sql.DB, error) {
	if i.away.Load() {
		return nil, errors.Join(aigateway.ErrUnavailable, errors.New("nobody answers"))
	}
	return i.Backend.Connect(ctx)
}

func (i interrupted) Moved() bool { return i.away.Load() || i.Backend.Moved() }

// Records of an outage wait in the journal, and no exchange waits for them.
func recordsOutliveAnOutage(t *testing.T, d Database) {
	const each = 500
	var away atomic.Bool
	away.Store(true)
	l, err := ledger.Open(aigateway.LedgerOptions{Journal: journalOf(t)}, interrupted{d(), &away}, zap.NewNop)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	for range each {
		write(t, l, Example())
	}
	_, err = l.Records(t.Context(), aigateway.RecordQuery{Limit: 1})
	require.ErrorIs(t, err, aigateway.ErrUnavailable)
	away.Store(false)
	all(t, l, each)
	require.EqualValues(t, each, total(t, l).Requests)
}
