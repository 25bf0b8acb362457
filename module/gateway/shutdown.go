package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
)

// watchShutdown makes the drain of the process begin when Caddy exits with the configuration of
// ctx. It subscribes to Caddy's event "stopping", which precedes the stop of all apps. The
// Stop method of an app would be too late: apps stop in no fixed order, and the http app
// waits for its running requests while it stops.
func watchShutdown(ctx caddy.Context) error {
	events, err := ctx.App("events")
	if err != nil {
		return fmt.Errorf("loading events app: %w", err)
	}
	return events.(*caddyevents.App).On("stopping", &stopping{ctx})
}

// stopping handles the event "stopping" of a configuration, which Caddy emits at a reload
// and at the exit of the process. A reload does not interrupt streams.
type stopping struct{ ctx caddy.Context }

// Handle begins the drain if the process exits.
func (s *stopping) Handle(context.Context, caddy.Event) error {
	if caddy.Exiting() {
		drain.Process.Begin(gracePeriod(s.ctx))
	}
	return nil
}

// gracePeriod returns the time from now for which the servers wait for running requests, 0
// for no limit.
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
