package delivery

import (
	"context"
	"path"
	"time"

	"github.com/caddyserver/certmagic"
)

// marks remember in Caddy's storage which alerts were sent. Gateways with one storage share
// them.
type marks struct{ storage certmagic.Storage }

// folder is the folder of the marks in the storage.
const folder = "ai_gateway/alerts"

// has reports whether there is a mark at a time. A storage that cannot be read has none: a
// second alert is better than none.
func (m marks) has(ctx context.Context, name string, now time.Time) bool {
	if name == "" {
		return false
	}
	value, err := m.storage.Load(ctx, path.Join(folder, name))
	if err != nil {
		return false
	}
	until, err := time.Parse(time.RFC3339, string(value))
	return err == nil && now.Before(until)
}

// set adds a mark.
func (m marks) set(ctx context.Context, name string, until time.Time) error {
	if name == "" {
		return nil
	}
	return m.storage.Store(ctx, path.Join(folder, name), []byte(until.UTC().Format(time.RFC3339)))
}

// prune removes the marks that have ended.
func (m marks) prune(ctx context.Context, now time.Time) {
	names, err := m.storage.List(ctx, folder, false)
	if err != nil {
		return // there are none yet, or Load fails, too
	}
	for _, name := range names {
		if !m.has(ctx, path.Base(name), now) {
			_ = m.storage.Delete(ctx, name) // it has no effect any more
		}
	}
}
