package store

import (
	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
)

// pool contains the stores in use. A new configuration is provisioned before the
// old one is cleaned up, so that stores survive a reload.
var pool = caddy.NewUsagePool()

// Shared returns the store of a database. Calls for the same database return the same
// store. The caller releases it with Release.
func Shared(backend database.Backend, module caddy.ModuleID) *Store {
	store, _, _ := pool.LoadOrNew(backend.Identity(), func() (caddy.Destructor, error) {
		store := New(backend, func() *zap.Logger { return caddy.Log().Named(string(module)) })
		store.rows = func() *zap.Logger { return caddy.Log().Named("ai_gateway.audit") }
		return pooled{store}, nil
	})
	return store.(pooled).Store
}

// Release releases a store that Shared returned. The last call closes the store.
func (s *Store) Release() error {
	_, err := pool.Delete(s.db.Identity())
	return err
}

// pooled closes a store when its last user has released it.
type pooled struct{ *Store }

// Destruct implements caddy.Destructor.
func (p pooled) Destruct() error { return p.Close() }
