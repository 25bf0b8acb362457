package drain

import (
	"context"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Watch begins the drain of the process when Caddy exits while the configuration
// of ctx runs. It subscribes to an event, which precedes the stop of all apps:
// the app of the servers waits for its requests while it stops, and apps stop in
// no certain order.
func Watch(ctx caddy.Context) error {
	events, err := ctx.App("events")
	if err != nil {
		return fmt.Errorf("loading events app: %w", err)
	}
	return events.(*caddyevents.App).On("stopping", &stopping{ctx})
}

// stopping handles the event with which a configuration ends: by a reload,
// which breaks no stream, or by the exit of the process.
type stopping struct{ ctx caddy.Context }

// Handle begins the drain if the process exits.
func (s *stopping) Handle(context.Context, caddy.Event) error {
	if caddy.Exiting() {
		Process.Begin(gracePeriod(s.ctx))
	}
	return nil
}

// gracePeriod returns how long the servers wait for running requests, counted
// from now; 0 for no limit.
func gracePeriod(ctx caddy.Context) time.Duration {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return 0
	}
	servers := app.(*caddyhttp.App)
	if servers.GracePeriod <= 0 {
		return 0
	}
	return time.Duration(servers.ShutdownDelay) + time.Duration(servers.GracePeriod)
}

var _ caddyevents.Handler = (*stopping)(nil)
