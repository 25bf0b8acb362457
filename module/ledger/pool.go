package ledger

import (
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// pool has the ledgers in use, by the directory of their journal. A new
// configuration is started before the old one is cleaned up, so that a ledger lasts
// over a reload.
var pool = caddy.NewUsagePool()

// Shared returns the ledger of a journal, the same one for the same journal. The
// module logs for it.
func Shared(options aigateway.LedgerOptions, backend database.Backend, module caddy.ModuleID) (*Ledger, error) {
	if options.Journal == "" {
		options.Journal = filepath.Join(caddy.AppDataDir(), "ai_gateway", "journal")
	}
	logger := func() *zap.Logger { return caddy.Log().Named(string(module)) }
	shared, loaded, err := pool.LoadOrNew(options.Journal, func() (caddy.Destructor, error) {
		l, err := Open(options, backend, logger)
		return pooled{l}, err
	})
	if err != nil {
		return nil, err
	}
	l := shared.(pooled).Ledger
	if loaded && l.db.Identity() != backend.Identity() {
		logger().Warn("the ledger goes on in its database until the gateway is started anew", zap.String("journal", options.Journal))
	}
	return l, nil
}

// Release implements aigateway.Ledger.
func (l *Ledger) Release() error {
	_, err := pool.Delete(l.options.Journal)
	return err
}

// pooled closes a ledger that nobody uses any more.
type pooled struct{ *Ledger }

// Destruct implements caddy.Destructor. Exchanges of an old configuration may still
// run: the last of them closes the ledger.
func (p pooled) Destruct() error {
	p.mu.Lock()
	p.retired = true
	idle := p.running == 0
	p.mu.Unlock()
	if !idle {
		return nil
	}
	return p.Close()
}
