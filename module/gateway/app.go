// Package gateway implements the handler http.handlers.ai_gateway and the app
// ai_gateway. The handler finds the endpoint of a request, checks the request, asks the
// targets of its model in order, and settles the exchange. Each of these steps uses a
// package in a folder below this one; those packages never import this one.
//
// Every answer on its paths is in the client's own format. A stream that did not finish
// never looks finished. ServeHTTP returns no error for its own paths, because Caddy
// would log the client's headers with the error. No request can choose a host.
//
// The package imports no guest (presets, transports, key sources, stores, accounts):
// Caddy loads guests by their module id.
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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/upstream"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

func init() {
	caddy.RegisterModule(App{})
	caddy.RegisterModule(Handler{})
}

// App is the global option: providers, models and keys that every site with an
// ai_gateway handler inherits.
type App struct {
	Config
	app *app // that Provision makes
}

// app is what the sites share in a running configuration.
type app struct {
	config *Config

	ctx      context.Context
	logger   *zap.Logger
	resolved *resolved
	ratios   *meter.Ratios
	lists    modellist.Lists
	backends *backends.Set   // of sites without a store and accounts of their own
	serving  []*backends.Set // of all sites, each once
	sites    []*handler

	emitter     *events.Emitter
	stopMetrics func() // releases the series of metrics; nil before Start

	forwarded []*caddyhttp.Server // the servers that warnForwarded has logged
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision loads what the sites share.
func (a *App) Provision(ctx caddy.Context) error {
	a.app = &app{config: &a.Config, ctx: ctx, logger: ctx.Logger()}
	a.dropStale()
	return a.placed(a.app.logger, a.app.provision(ctx))
}

// Start implements caddy.App.
func (a *App) Start() error { return a.app.start() }

// Stop implements caddy.App.
func (a *App) Stop() error { return a.app.stop() }

// Cleanup implements caddy.CleanerUpper.
func (a *App) Cleanup() error {
	if a.app == nil {
		return nil // not provisioned
	}
	return a.app.cleanup()
}

// provision loads what the sites share. If each site loaded a copy, each would run its
// own health checks and open its own connections.
func (a *app) provision(ctx caddy.Context) error {
	a.ratios = meter.LoadRatios()
	var err error
	empty := catalog.New(catalog.Shared{Lists: &a.lists, LoadCaller: upstream.Load, LoadCondition: conditions.Load})
	base := &resolved{catalog: empty, limits: limits.New(), started: make(chan struct{})}
	if a.resolved, err = a.config.resolve(ctx, base, false); err != nil {
		return fmt.Errorf("global option ai_gateway: %w", err)
	}
	a.warnOfOldTables(time.Now())
	if a.backends, err = backends.Load(ctx, a.config.Options); err != nil {
		return fmt.Errorf("global option ai_gateway: %w", err)
	}
	if a.emitter, err = events.New(ctx); err != nil {
		return err
	}
	return watchShutdown(ctx)
}

// warnOfOldTables logs that the tables of models and prices are old, so that new models have no facts
// and prices that have changed are wrong.
func (a *app) warnOfOldTables(now time.Time) {
	if newest, old := a.resolved.catalog.Tables().AsOf(now); old {
		a.logger.Warn("the tables of models and prices are older than 60 days; update the gateway, or add rows with the option catalog",
			zap.String("as_of", newest.Format(time.DateOnly)))
	}
}

// backendsOf returns the backends of a site: those of the global option, unless the site
// configures its own.
func (a *app) backendsOf(ctx caddy.Context, own *backends.Options) (*backends.Set, error) {
	if !own.Configured() {
		return a.backends, nil
	}
	if err := own.Inherit(&a.config.Options); err != nil {
		return nil, err
	}
	return backends.Load(ctx, *own)
}

// serve adds a site and its backends to the app.
func (a *app) serve(site *handler) {
	a.sites = append(a.sites, site)
	if slices.Contains(a.serving, site.backends) {
		return
	}
	a.serving = append(a.serving, site.backends)
	if site.backends.Accounts != nil {
		site.backends.Accounts.ReserveNames(a.ownsKey)
		if accounts, ok := site.backends.Accounts.(aigateway.LimitAccounts); ok {
			accounts.UseLimits(a.limitReader(site.backends))
		}
		if accounts, ok := site.backends.Accounts.(aigateway.StateAccounts); ok {
			accounts.UseState(a.stateOf(site.backends))
		}
	}
}

// ownsKey reports whether a user with this name would be the owner of a key outside of the
// stores. The keys of all sites count, because sites may share a ledger.
func (a *app) ownsKey(username string) bool {
	return slices.ContainsFunc(a.sites, func(site *handler) bool { return site.resolved.sources.HasOwner(username) })
}

// start opens the stores and the ledgers of the sites. Caddy starts even if a store
// cannot be reached: keys of the configuration work without it.
func (a *app) start() error {
	close(a.resolved.started)
	for _, set := range a.serving {
		if set.Store != nil {
			set.Store.Open()
		}
	}
	if err := a.openLedgers(); err != nil {
		return err
	}
	a.awaitStores(openPatience)
	a.recordLoads()
	a.warnUnusable()
	a.warnTeams()
	a.warnFolder()
	release, unwatch, unwatchLimits := metrics.Hold(a.metricNames()), metrics.WatchProviders(a.available), metrics.WatchLimits(func() []metrics.LimitLevel { return a.limitReader(nil).Levels(a.ctx) })
	forget := func() {}
	if len(a.managed()) > 0 {
		forget = metrics.KeepHour()
	}
	ctx, stopReports := context.WithCancel(a.ctx)
	a.stopMetrics = func() { stopReports(); unwatch(); unwatchLimits(); forget(); release() }
	go a.reportDegraded(ctx)
	go reportEnds(ctx, a.logger, a.sites)
	reportSpend(ctx, a)
	for _, site := range a.sites {
		if site.resolved.catalog.SealsObjects() {
			go site.settler.Run(ctx)
		}
	}
	return nil
}

// metricNames returns the names of the configuration that metrics have as labels.
func (a *app) metricNames() (n metrics.Names) {
	for _, site := range a.sites {
		for _, p := range site.resolved.catalog.Providers {
			n.Providers = append(n.Providers, p.Name)
		}
		n.Models = append(n.Models, site.resolved.catalog.Patterns()...)
		n.Limits = append(n.Limits, site.resolved.limits.Names()...)
		n.Limits = append(n.Limits, site.resolved.limits.Calls.Names()...)
		n.Guards = append(n.Guards, site.resolved.guards.Names()...)
	}
	return n
}

// available returns which providers of all sites can be asked.
func (a *app) available() map[string]bool {
	all := make(map[string]bool)
	for _, site := range a.sites {
		for name, is := range state.Providers(site.resolved.catalog) {
			all[name] = all[name] || is
		}
	}
	return all
}

// openLedgers opens the ledgers of sites. Sites without a store have none.
func (a *app) openLedgers() error {
	for _, set := range a.serving {
		if set.Store == nil && !a.config.DisableLedger {
			a.logger.Info("no usage is recorded, because there is no store")
		}
		if err := set.Book.Start(a.logger); err != nil {
			return a.configOf(set).placed(a.logger, err)
		}
	}
	return nil
}

// configOf returns the configuration that has the options of backends.
func (a *app) configOf(set *backends.Set) *Config {
	for _, site := range a.sites {
		if site.backends == set && set != a.backends {
			return site.config
		}
	}
	return a.config
}

// openPatience is the longest time for which Start waits for stores. A store needs about
// that long to find that its database does not answer.
const openPatience = 5 * time.Second

// awaitStores waits until every store is read, or has found that its database does not
// answer. Until then, a request with an unknown key is answered 503, because the key may
// be in the store. Caddy may start the servers before this app, so requests can arrive
// while awaitStores waits.
func (a *app) awaitStores(patience time.Duration) {
	enough := time.After(patience)
	for _, set := range a.serving {
		if store, ok := set.Store.(aigateway.StoreOpening); ok {
			select {
			case <-store.Opened():
			case <-enough:
				return
			}
		}
	}
}

// stop ends the events of this configuration, and the series of metrics that no other
// configuration has. Running requests continue: they hold references of their own.
func (a *app) stop() error {
	a.emitter.Stop()
	a.stopMetrics()
	return nil
}

// cleanup releases the lists of models, the ratios of tokens and the ledgers. The next
// configuration and running requests may hold them, too.
func (a *app) cleanup() error {
	errs := []error{a.lists.Release(), meter.ReleaseRatios()}
	for _, set := range a.serving {
		errs = append(errs, set.Book.Release())
	}
	return errors.Join(errs...)
}

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
