package state

import (
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
)

// mostOver bounds the alerts in a status that are over.
const mostOver = 50

// alerts returns the latest alerts about the sites, the newest first.
func (s Sites) alerts(now time.Time) []api.Alert {
	shown, ended := []api.Alert{}, 0
	for _, alert := range alerts.Latest(now) {
		if !s.concerns(alert.Data) {
			continue
		}
		next := api.Alert{Time: alert.Time.Truncate(time.Second), Event: alert.Event, Text: alert.Text}
		if !alert.Ended.IsZero() {
			if ended++; ended > mostOver {
				continue
			}
			next.Ended = new(alert.Ended.UTC().Truncate(time.Second))
		}
		shown = append(shown, next)
	}
	return shown
}

// concerns reports whether an alert with these data is about the sites: about a provider that they
// have, also after a reload, or about one of their limits. What names neither may be about any site
// of the process.
func (s Sites) concerns(data map[string]any) bool {
	sites := s.All()
	if provider, ok := data["provider"].(string); ok {
		return slices.ContainsFunc(sites, func(site Site) bool {
			return slices.ContainsFunc(site.Catalog.Providers, func(p *catalog.Provider) bool { return p.Name == provider })
		})
	}
	if limit, ok := data["limit"].(string); ok && s.Others {
		return slices.ContainsFunc(sites, func(site Site) bool { return slices.Contains(site.KeyLimits.Names(), limit) })
	}
	return !s.Others
}
