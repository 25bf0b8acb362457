package reports

import (
	"maps"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Discount is aigateway.State.CacheDiscount.
type Discount func(asked, provider, model string) (picos int64, currency string)

// mostSaving is the number of targets whose savings are counted one by one.
const mostSaving = 250

// Savings answers GET /api/v1/usage/savings: what reads from caches of prompts cost less than fresh
// input, at the prices of now, and what the calls would have cost in whose place the cache of answers
// has answered, of the usage that Usage adds up for the same user.
func (r Reports) Savings(c *call.Call) (any, error) {
	if r.Discount == nil {
		return nil, call.ErrNoPath
	}
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	query, err := restrictedUsage(c, zone)
	if err != nil {
		return nil, err
	}
	query.By = []accounting.Dimension{accounting.ByModel, accounting.ByProvider, accounting.ByUpstream}
	query.Largest = &accounting.Largest{Number: mostSaving, Measure: accounting.MeasureTokens}
	query.Limit = largestUsage
	sums, err := reader.Usage(c.Context(), query)
	if err != nil {
		return nil, err
	}
	return r.saved(sums), nil
}

// saved adds up what caches have saved. The result is a lower bound if the discount of a read is
// unknown, as it is for those of all others together.
func (r Reports) saved(sums []accounting.Usage) (all api.Savings) {
	type amounts struct{ micros, answers float64 }
	currencies := make(map[string]amounts)
	for i := range sums {
		u := &sums[i]
		if u.Saved > 0 {
			sum := currencies[u.Cost.Currency]
			sum.answers += float64(u.Saved) / 1000
			currencies[u.Cost.Currency] = sum
		}
		if u.Tokens.CacheRead == 0 {
			continue
		}
		var picos int64
		var currency string
		if u.Others == 0 {
			picos, currency = r.Discount(u.Model, u.Provider, u.Upstream)
		}
		if currency == "" {
			all.Floor = true
			continue
		}
		sum := currencies[currency]
		sum.micros += float64(picos) * float64(u.Tokens.CacheRead) / 1e6
		currencies[currency] = sum
	}
	all.Items = []api.Saving{}
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		all.Items = append(all.Items, api.Saving{SavedMicro: int64(currencies[currency].micros), AnswersMicro: int64(currencies[currency].answers), Currency: currency})
	}
	return all
}
