package catalog

import (
	"cmp"
	"iter"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// End returns the announced end of the model for a name that a client uses. The day in the list of
// the provider, if the list was read and has one, takes precedence over that of the tables.
func (t Target) End(client string) models.End {
	end := t.Facts(client).End()
	upstream := t.UpstreamModel(client)
	end.Model = cmp.Or(end.Model, upstream)
	if day, err := time.Parse(time.DateOnly, modellist.Find(t.Provider.models(), upstream).Shutdown); err == nil {
		end.Day = day
	}
	return end
}

// Ending returns the targets whose model has a name in the configuration, and ends within 60 days or
// has ended, each with the end. A target of several models occurs several times.
func (c *Catalog) Ending(now time.Time) iter.Seq2[Target, models.End] {
	return func(yield func(Target, models.End) bool) {
		for i := range c.claims {
			claim := &c.claims[i]
			for _, t := range claim.model.Targets {
				if t.Model == "" && !claim.pattern.Exact() {
					continue
				}
				if end := t.End(string(claim.pattern)); end.IsSoon(now) && !yield(t, end) {
					return
				}
			}
		}
	}
}
