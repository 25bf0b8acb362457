package store

import (
	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// pool holds the stores in use. A new configuration is provisioned before the
// old one is cleaned up, so that a store lasts over a reload.
var pool = caddy.NewUsagePool()

// Shared returns the store of a database, the same for the same database. The
// caller gives it back with Release.
func Shared(backend database.Backend, module caddy.ModuleID) *Store {
	store, _, _ := pool.LoadOrNew(backend.Identity(), func() (caddy.Destructor, error) {
		return pooled{New(backend, func() *zap.Logger { return caddy.Log().Named(string(module)) })}, nil
	})
	return store.(pooled).Store
}

// Release gives a store back that Shared returned. The last one closes it.
func (s *Store) Release() error {
	_, err := pool.Delete(s.db.Identity())
	return err
}

// pooled closes a store that nobody uses any more.
type pooled struct{ *Store }

// Destruct implements caddy.Destructor.
func (p pooled) Destruct() error { return p.Close() }
