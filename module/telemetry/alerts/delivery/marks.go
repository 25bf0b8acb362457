package delivery

import (
	"context"
	"path"
	"time"

	"github.com/caddyserver/certmagic"
)

// marks remember in Caddy's storage which alerts were sent to a webhook. Gateways with one
// storage share them.
type marks struct {
	storage certmagic.Storage
	webhook string // tells the marks of webhooks apart
}

// folder is the folder of the marks in the storage.
const folder = "ai_gateway/alerts"

// path returns the place of a mark in the storage.
func (m marks) path(name string) string { return path.Join(folder, name+"-"+m.webhook) }

// hold waits until no other gateway sends the alert of a mark, and returns the function that
// lets others go on. A storage without locks holds nobody: a second alert is better than none.
func (m marks) hold(ctx context.Context, name string) (release func()) {
	if name == "" || m.storage.Lock(ctx, m.path(name)) != nil {
		return func() {}
	}
	return func() { _ = m.storage.Unlock(context.WithoutCancel(ctx), m.path(name)) } // the lock expires
}

// has reports whether there is a mark at a time.
func (m marks) has(ctx context.Context, name string, now time.Time) bool {
	return name != "" && m.lasts(ctx, m.path(name), now)
}

// lasts reports whether the mark of a place in the storage has not ended. A storage that cannot
// be read has none: a second alert is better than none.
func (m marks) lasts(ctx context.Context, place string, now time.Time) bool {
	value, err := m.storage.Load(ctx, place)
	if err != nil {
		return false
	}
	end, err := time.Parse(time.RFC3339, string(value))
	return err == nil && now.Before(end)
}

// set adds a mark.
func (m marks) set(ctx context.Context, name string, end time.Time) error {
	if name == "" {
		return nil
	}
	return m.storage.Store(ctx, m.path(name), []byte(end.UTC().Format(time.RFC3339)))
}

// prune removes the marks that have ended, those of all webhooks.
func (m marks) prune(ctx context.Context, now time.Time) {
	places, err := m.storage.List(ctx, folder, false)
	if err != nil {
		return // there are none yet, or Load fails, too
	}
	for _, place := range places {
		if !m.lasts(ctx, place, now) {
			_ = m.storage.Delete(ctx, place) // it has no effect any more
		}
	}
}
