// Package gateway is the handler http.handlers.ai_gateway and the app ai_gateway. It
// leads an exchange from the route table through the checks and the attempts to its end;
// what it uses on the way is in the packages below, which never import it.
//
// It promises that every answer under its paths is in the client's own format, that a
// stream that did not finish never looks finished, that no error returned to Caddy makes
// Caddy log the headers of a client, and that no request chooses a host. It knows its
// guests (presets, transports, key sources, stores, accounts) only by module id.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/explain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

func init() {
	caddy.RegisterModule(App{})
	caddy.RegisterModule(Handler{})
}

// App is the global option: providers, models and keys that every site with an
// ai_gateway handler inherits.
type App struct {
	Config

	ctx      context.Context
	logger   *zap.Logger
	resolved *resolved
	ratios   *meter.Ratios
	lists    modellist.Lists
	users    *userbase.Userbase   // of sites without a store and accounts of their own
	serving  []*userbase.Userbase // of all sites, without repetition
	sites    []*Handler

	emitter     *events.Emitter
	stopMetrics func() // nil before Start

	forwarded []*caddyhttp.Server // the servers that warnForwarded has warned of
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision loads what the sites share. With a copy for each site, each would run
// health checks and connections of its own.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.logger = ctx, ctx.Logger()
	a.ratios = meter.LoadRatios()
	var err error
	if a.resolved, err = a.Config.resolve(ctx, &resolved{catalog: catalog.New(&a.lists), limits: limiting.New()}); err != nil {
		return fmt.Errorf("global option ai_gateway: %w", err)
	}
	if a.users, err = userbase.Load(ctx, a.Options); err != nil {
		return fmt.Errorf("global option ai_gateway: %w", err)
	}
	if a.emitter, err = events.New(ctx); err != nil {
		return err
	}
	return drain.Watch(ctx)
}

// serve adds a site, and its userbase.
func (a *App) serve(site *Handler) {
	a.sites = append(a.sites, site)
	if !slices.Contains(a.serving, site.users) {
		a.serving = append(a.serving, site.users)
	}
}

// Start opens the stores of sites. A store that cannot be reached does not keep Caddy
// from starting: keys of the configuration work without it.
func (a *App) Start() error {
	for _, users := range a.serving {
		if users.Store != nil {
			users.Store.Open()
		}
	}
	if err := a.openLedgers(); err != nil {
		return err
	}
	a.awaitStores(openPatience)
	a.warnUnusable()
	release, unwatch := metrics.Hold(a.metricNames()), metrics.WatchProviders(a.available)
	a.stopMetrics = func() { unwatch(); release() }
	return nil
}

// metricNames returns the names of the configuration that are labels of metrics.
func (a *App) metricNames() (n metrics.Names) {
	for _, site := range a.sites {
		for _, p := range site.resolved.catalog.Providers {
			n.Providers = append(n.Providers, p.Name)
		}
		n.Models = append(n.Models, site.resolved.catalog.Patterns()...)
		n.Limits = append(n.Limits, site.resolved.limits.Names()...)
	}
	return n
}

// available returns which providers of all sites can be asked.
func (a *App) available() map[string]bool {
	all := make(map[string]bool)
	for _, site := range a.sites {
		for name, is := range explain.Providers(site.resolved.catalog) {
			all[name] = all[name] || is
		}
	}
	return all
}

// openLedgers opens the ledgers of sites. Sites without a store have none.
func (a *App) openLedgers() error {
	for _, users := range a.serving {
		if users.Store == nil && !a.DisableLedger {
			a.logger.Info("without a store, exchanges leave no record of what they used")
		}
		if err := users.Book.Start(a.logger); err != nil {
			return err
		}
	}
	return nil
}

// openPatience bounds how long a start waits for stores. A store needs about that
// long to find out that no database answers.
const openPatience = 5 * time.Second

// awaitStores waits until every store was read, or has found that it cannot be. Until
// then, clients with a key of the store are asked to try again; so are clients that
// come while Caddy starts, since apps start in no certain order.
func (a *App) awaitStores(patience time.Duration) {
	enough := time.After(patience)
	for _, users := range a.serving {
		if store, ok := users.Store.(aigateway.StoreOpening); ok {
			select {
			case <-store.Opened():
			case <-enough:
				return
			}
		}
	}
}

// Stop ends the events and the series of metrics that only this configuration has.
// Running requests go on with what they hold.
func (a *App) Stop() error {
	a.emitter.Stop()
	a.stopMetrics()
	return nil
}

// Cleanup gives back the lists of models, the ratios of tokens and the ledgers, which
// the next configuration may hold as well. Running requests still use them.
func (a *App) Cleanup() error {
	if a.ratios == nil {
		return nil
	}
	errs := []error{a.lists.Release(), meter.ReleaseRatios()}
	for _, users := range a.serving {
		errs = append(errs, users.Book.Release())
	}
	return errors.Join(errs...)
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
