package store

import (
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// pool contains the stores in use. A new configuration is provisioned before the
// old one is cleaned up, so that stores survive a reload.
var pool = caddy.NewUsagePool()

// auditModule is the module whose logger writes the rows of the audit log. Only loggers of modules
// write to logs that a configuration names.
type auditModule struct{}

// CaddyModule returns the Caddy module information.
func (auditModule) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.audit", New: func() caddy.Module { return auditModule{} }}
}

// Shared returns the store of a database. Calls for the same database return the same
// store, which writes its rows to the logs of the configuration of the last call. The caller
// releases it with Release.
func Shared(ctx caddy.Context, backend database.Backend, module caddy.ModuleID) *Store {
	loaded, _, _ := pool.LoadOrNew(backend.Identity(), func() (caddy.Destructor, error) {
		return pooled{New(backend, func() *zap.Logger { return caddy.Log().Named(string(module)) })}, nil
	})
	store := loaded.(pooled).store
	store.audit.recorder.rows.Store(ctx.Logger(auditModule{}))
	return store
}

// Release releases a store that Shared returned. The last call closes the store.
func (s *Store) Release() error {
	_, err := pool.Delete(s.Identity())
	return err
}

// pooled closes a store when its last user has released it.
type pooled struct{ store *Store }

// Destruct implements caddy.Destructor.
func (p pooled) Destruct() error { return p.store.Close() }

// DataPath returns the absolute path of a file of the gateway in Caddy's data directory, which
// is relative if the environment has neither HOME nor XDG_DATA_HOME.
func DataPath(name string) (string, error) {
	return filepath.Abs(filepath.Join(caddy.AppDataDir(), "ai_gateway", name))
}
