package catalog

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// End returns the announced end of the model for a name that a client uses. The day in the list of
// the provider, if the list was read and has one, takes precedence over that of the tables.
func (t Target) End(client string) models.End {
	end := t.Facts(client).End()
	upstream := t.UpstreamModel(client)
	end.Model = cmp.Or(end.Model, upstream)
	listed := modellist.Find(t.Provider.models(), upstream).Shutdown
	if listed == "" { // as for most models, at each call: the error of a date that is none would be allocated
		return end
	}
	if day, err := time.Parse(time.DateOnly, listed); err == nil {
		end.Day = day
	}
	return end
}

// Changes returns what is different at the successor of the model for a name that a client uses, each in
// a sentence: facts, of which some make requests fail or lose a demand, and a price that is not known.
func (t Target) Changes(client string, now time.Time) (all []string) {
	facts := t.Facts(client)
	successor := facts.End().Successor
	if successor == "" {
		return nil
	}
	if differences := facts.Differences(t.Provider.Facts(successor)); len(differences) > 0 {
		all = append(all, "The successor differs in "+strings.Join(differences, "; ")+".")
	}
	if t.Provider.price(successor, successor, t.Provider.listed.tables, now) == nil {
		all = append(all, "No price is known for the successor.")
	}
	return all
}

// Ending returns the targets whose model has a name in the configuration, and ends within 60 days or
// has ended, each with that name. A target of several models occurs several times.
func (c *Catalog) Ending(now time.Time) iter.Seq2[Target, string] {
	return func(yield func(Target, string) bool) {
		for i := range c.claims {
			claim := &c.claims[i]
			for _, t := range claim.model.Targets {
				if t.Model == "" && !claim.pattern.Exact() {
					continue
				}
				name := string(claim.pattern)
				if end := t.End(name); end.IsSoon(now) && !yield(t, name) {
					return
				}
			}
		}
	}
}
