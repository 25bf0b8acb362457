package events_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

func init() {
	caddy.RegisterModule(app{})
	caddy.RegisterModule(handler{})
}

// app is a Caddy app with an emitter.
type app struct{ emitter *events.Emitter }

func (app) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events_test", New: func() caddy.Module { return new(app) }}
}

func (a *app) Provision(ctx caddy.Context) (err error) {
	a.emitter, err = events.New(ctx)
	return err
}

func (a *app) Start() error { return nil }
func (a *app) Stop() error  { a.emitter.Stop(); return nil }

// handled are the events that the handlers have received.
var handled = make(chan string, 100)

// handler sends events to handled. If Blocked is true, it first waits for release.
type handler struct {
	Name    string `json:"name"`
	Blocked bool   `json:"blocked"`
}

var release = make(chan struct{})

func (handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.events_test", New: func() caddy.Module { return new(handler) }}
}

func (h handler) Handle(ctx context.Context, e caddy.Event) error {
	if h.Blocked {
		<-release
	}
	handled <- fmt.Sprintf("%s got %s: %v", h.Name, e.Name(), e.Data["model"])
	return nil
}

func load(t *testing.T, handlers string) {
	t.Helper()
	config := `{"admin": {"disabled": true, "config": {"persist": false}}, "logging": {"logs": {"default": {"level": "ERROR"}}},
		"apps": {"events_test": {}, "events": {"subscriptions": [` + handlers + `]}}}`
	require.NoError(t, caddy.Load([]byte(config), true))
}

func subscription(event, handler string) string {
	return fmt.Sprintf(`{"events": [%q], "handlers": [{"handler": "events_test", %s}]}`, event, handler)
}

// State that outlives a reload, such as the ledger, must not emit events to the handlers
// of an old configuration.
func TestEventsGoToTheConfigurationInForce(t *testing.T) {
	t.Cleanup(func() { require.NoError(t, caddy.Stop()) })
	events.Emit(events.UnpricedModel, map[string]any{"model": "early"})
	load(t, subscription(events.UnpricedModel, `"name": "first"`))
	assert.Equal(t, "first got ai_gateway_unpriced_model: early", <-handled, "an event waits for the first configuration")
	events.Emit(events.UnpricedModel, map[string]any{"model": "m"})
	assert.Equal(t, "first got ai_gateway_unpriced_model: m", <-handled)

	load(t, subscription(events.UnpricedModel, `"name": "second"`))
	events.Emit(events.LedgerBlocked, nil) // no handler is bound to it
	events.Emit(events.UnpricedModel, map[string]any{"model": "n"})
	assert.Equal(t, "second got ai_gateway_unpriced_model: n", <-handled)

	assert.Empty(t, handled)
}

// A handler that hangs, such as a command, must not delay requests: events that exceed
// the queue are dropped.
func TestEmittersDoNotWaitForHandlers(t *testing.T) {
	load(t, subscription(events.ProviderDown, `"name": "slow", "blocked": true`))
	for range 1000 {
		events.Emit(events.ProviderDown, nil)
	}
	close(release)
	<-handled
	require.NoError(t, caddy.Stop())
	assert.LessOrEqual(t, len(handled), 65)
}

var _ caddyevents.Handler = handler{}
