package gateway

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

// slowStore is a store whose keys are read when opened is closed.
type slowStore struct {
	aigateway.Store
	opened chan struct{}
}

// Opened returns the channel that is closed when the keys are read.
func (s slowStore) Opened() <-chan struct{} { return s.opened }

// A start waited for half a second only. A store on a slow disk was not read by then, and
// requests with unknown keys were answered 503.
func TestAStartWaitsForStoresAsLongAsTheyMayTake(t *testing.T) {
	for name, want := range map[string]struct{ reads, waits time.Duration }{
		"slow disk": {3 * time.Second, 3 * time.Second},
		"no answer": {time.Minute, openPatience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := slowStore{opened: make(chan struct{})}
				time.AfterFunc(want.reads, func() { close(store.opened) })
				app := &app{serving: []*backends.Set{{}, {Store: store}, {Store: store}}}
				start := time.Now()
				app.awaitStores(openPatience)
				assert.Equal(t, want.waits, time.Since(start))
				time.Sleep(time.Minute) // synctest requires that the timer of the store has ended
			})
		})
	}
}

// Nobody noticed that a gateway of last year asked new models as unknown ones, at old prices.
func TestOldTablesAreInTheLog(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	app := &app{logger: zap.New(core), resolved: &resolved{catalog: catalog.New(catalog.Shared{})}}
	newest, _ := app.resolved.catalog.Tables().AsOf(time.Time{})
	app.warnOfOldTables(newest)
	assert.Zero(t, logs.Len())
	app.warnOfOldTables(newest.AddDate(0, 3, 0))
	if assert.Equal(t, 1, logs.Len()) {
		assert.Equal(t, newest.Format(time.DateOnly), logs.All()[0].ContextMap()["as_of"])
	}
}
