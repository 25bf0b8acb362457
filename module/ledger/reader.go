package ledger

import (
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// Reader implements accounting.LedgerReader. It reads the database, and needs no journal.
type Reader struct {
	db *database.Database
}

// NewReader returns a reader that connects to the database when it is first used.
func NewReader(backend database.Backend, logger func() *zap.Logger) *Reader {
	return &Reader{database.New("ledger", backend, logger, func() {})}
}

// Close closes the database.
func (r *Reader) Close() error { return r.db.Close() }

// Interface guards
var (
	_ accounting.LedgerReader  = (*Reader)(nil)
	_ accounting.LaggingReader = (*Reader)(nil)
)
