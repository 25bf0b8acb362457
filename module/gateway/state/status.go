package state

import (
	"maps"
	"net/url"
	"runtime"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
)

// started is when the process started.
var started = time.Now()

// Status returns the state of the gateway.
func (s Sites) Status(url.Values) (any, error) {
	build := version.Running()
	shortVersion, _ := caddy.Version()
	shown := api.Status{
		Build:   api.Build{Version: version.Of(build), Revision: version.Revision(build), Caddy: shortVersion, Go: runtime.Version()},
		Started: started.UTC().Truncate(time.Second), Ready: true, Running: drain.Process.Running(), Ended: drain.Process.Ended(),
		Degraded: []api.DegradedPart{}, Alerts: s.alerts(time.Now()), Providers: []api.ProviderStatus{},
	}
	broken := make(map[string]error)
	available := make(map[string]bool)
	var newest *tables.Tables
	for _, site := range s.All() {
		newest = site.Catalog.Tables()
		if reason := site.Unready(); reason != "" {
			shown.Ready, shown.Reason = false, reason
		}
		maps.Copy(broken, site.Degraded())
		for name, is := range Providers(site.Catalog) {
			available[name] = available[name] || is
		}
		if lagging, ok := site.Store.(accounting.LaggingReader); ok {
			if age, known := lagging.Behind(); known {
				shown.Lag = new(max(int64(age/time.Second), value(shown.Lag)))
			}
		}
	}
	asOf, old := newest.AsOf(time.Now())
	shown.Catalog = api.CatalogAge{AsOf: asOf.Format(time.DateOnly), Old: old}
	for _, part := range slices.Sorted(maps.Keys(broken)) {
		shown.Degraded = append(shown.Degraded, api.DegradedPart{Part: part, Reason: broken[part].Error()})
	}
	for _, name := range slices.Sorted(maps.Keys(available)) {
		shown.Providers = append(shown.Providers, api.ProviderStatus{Name: name, Available: available[name]})
	}
	return shown, nil
}

// value returns the value of a pointer, 0 for nil.
func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
