package migration

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
)

// largeAnswer is the number of tokens that clients such as Claude Code allow an answer.
const largeAnswer = 32_000

// WarnOfSmallBudgets reports budgets that are smaller than what one request reserves, so that
// they would refuse it for ever. Other gateways check what was spent before.
func (g *Gateway) WarnOfSmallBudgets(report *Report) {
	budgets, outer := map[string]float64{}, map[string]string{}
	for _, l := range g.Limits {
		for _, line := range l.Lines {
			switch line.Words[0] {
			case "within":
				outer[l.Name] = line.Words[1]
			case "budget":
				amount, _, _ := strings.Cut(line.Words[1], "/")
				budgets[l.Name], _ = strconv.ParseFloat(amount, 64) // this package has written it
			}
		}
	}
	reserved, warned := g.reserved(), map[string]bool{}
	for _, k := range g.Keys {
		for limit := k.Limit; limit != ""; limit = outer[limit] {
			budget, ok := budgets[limit]
			if !ok || warned[limit] || k.Disabled {
				continue
			}
			for _, m := range g.Models {
				if amount := reserved[m.Name]; amount > budget && (len(k.Models) == 0 || slices.Contains(k.Models, m.Name)) {
					warned[limit] = true
					report.Add(Changed, "limit "+limit, "a request for %s with an answer of up to %d tokens reserves %s USD, more than the whole budget: it is refused", m.Name, largeAnswer, Decimal(amount))
					break
				}
			}
		}
	}
}

// reserved returns the dollars that a request with a large answer reserves for each model.
func (g *Gateway) reserved() map[string]float64 {
	presets := map[string]string{}
	for _, p := range g.Providers {
		presets[p.Name] = p.Preset
	}
	all := map[string]float64{}
	for _, m := range g.Models {
		for _, t := range m.Targets {
			if known := prices.Builtin().Find(presets[t.Provider], t.Model, time.Now()); known != nil {
				all[m.Name] = max(all[m.Name], float64(known.Base.Answer)*largeAnswer/1e12)
			}
		}
	}
	return all
}
