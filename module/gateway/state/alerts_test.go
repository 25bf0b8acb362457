package state

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// Alerts are those of the process: ensures that an administrator of one of its sites sees none about
// another site, and nobody one about a provider that a reload has removed.
func TestAlertsAreThoseOfTheSites(t *testing.T) {
	for _, data := range []map[string]any{
		{"provider": "removed", "model": "m"}, {"provider": "known", "model": "m"},
	} {
		events.Emit(events.ProviderDown, data)
	}
	events.Emit(events.KeyExpires, map[string]any{"key": "of-anyone", "expires": "soon"})
	events.Emit(events.BudgetThreshold, map[string]any{"limit": "foreign", "percent": 80})
	site := Site{Catalog: &catalog.Catalog{Providers: []*catalog.Provider{{Name: "known"}}}, KeyLimits: limits.New()}
	for others, want := range map[bool]string{false: "foreign of-anyone known", true: "known"} {
		sites := Sites{Others: others, All: func() []Site { return []Site{site} }}
		var about []string
		for _, alert := range sites.alerts(time.Now()) {
			assert.Nil(t, alert.Ended)
			for _, name := range []string{"removed", "known", "of-anyone", "foreign"} {
				if strings.Contains(alert.Text, name) {
					about = append(about, name)
				}
			}
		}
		assert.Equal(t, want, strings.Join(about, " "))
	}
}
