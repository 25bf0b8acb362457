// Package gateway is the handler http.handlers.ai_gateway and the app
// ai_gateway: the route table, the checks before a call, the choice of targets,
// the attempts, and the sink, which is the only writer to the client.
//
// It promises that every answer under its paths is written by itself in the
// client's own format, that a stream that did not finish never looks finished,
// that nothing is returned to Caddy that would make it log a client's headers,
// and that no request chooses a host. It knows its guests (presets, transports,
// key sources) only by module id.
package gateway

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"
)

func init() {
	caddy.RegisterModule(App{})
	caddy.RegisterModule(Handler{})
}

// App is the global option: providers, models and keys that every site with an
// ai_gateway handler inherits.
type App struct {
	Config

	resolved *resolved
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision loads what the sites share, once for all of them: each site with a
// copy of its own would run its own health checks and connections.
func (a *App) Provision(ctx caddy.Context) error {
	var err error
	if a.resolved, err = a.Config.resolve(ctx, nil); err != nil {
		return fmt.Errorf("global option ai_gateway: %w", err)
	}
	return nil
}

// Start does nothing: all work is done by requests.
func (a *App) Start() error { return nil }

// Stop does nothing: requests in flight go on with what they hold.
func (a *App) Stop() error { return nil }

// Interface guards
var (
	_ caddy.App         = (*App)(nil)
	_ caddy.Provisioner = (*App)(nil)
)
