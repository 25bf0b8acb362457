package gateway

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
)

// looking is a store that reads its keys in its own time.
type looking struct {
	aigateway.Store
	looked chan struct{}
}

// Opened is closed when it has read them.
func (l looking) Opened() <-chan struct{} { return l.looked }

// A start once waited half a second and no longer. A store on a slow disk was
// not read by then, and requests with unknown keys were answered 503.
func TestAStartWaitsForStoresAsLongAsTheyMayTake(t *testing.T) {
	for name, want := range map[string]struct{ reads, waits time.Duration }{
		"slow disk": {3 * time.Second, 3 * time.Second},
		"no answer": {time.Minute, openPatience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := looking{looked: make(chan struct{})}
				time.AfterFunc(want.reads, func() { close(store.looked) })
				app := &App{serving: []*userbase.Userbase{{}, {Store: store}, {Store: store}}}
				start := time.Now()
				app.awaitStores(openPatience)
				assert.Equal(t, want.waits, time.Since(start))
				time.Sleep(time.Minute) // until the store has read, since goroutines must end
			})
		})
	}
}
