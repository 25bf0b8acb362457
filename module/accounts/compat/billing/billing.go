// Package billing writes the usage of a key in the JSON shapes that existing clients read:
// those of the billing API of OpenAI, and those of new-api.
//
// In each shape, the limit minus the usage is the remainder. A key without a limit gets the
// number that clients take for no limit. Only amounts in USD count, because the shapes have
// no other currency.
package billing

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// Currency is the only currency of the shapes.
const Currency = "USD"

// The units of the shapes.
const (
	nanosPerUSD  = 1_000_000_000
	nanosPerCent = 10_000_000
	// nanosPerQuota is the unit of token_usage: 500,000 units are 1 USD.
	nanosPerQuota = nanosPerUSD / 500_000
	// unlimitedUSD is the limit that clients take for no limit.
	unlimitedUSD = 100_000_000
)

// Account is the usage of a key, with the remainder of its budgets.
type Account struct {
	Key  *aigateway.Key
	Used int64              // nanos of USD, of all time
	Left *int64             // nanos of USD; nil if nothing limits them
	Days []accounting.Usage // by day and model, in the order of time, if the request asks for them
}

// limitUSD returns the limit in USD.
func (a *Account) limitUSD() float64 {
	if a.Left == nil {
		return unlimitedUSD
	}
	return float64(a.Used+*a.Left) / nanosPerUSD
}

// expires returns the time at which the key expires, in Unix seconds; 0 for never.
func (a *Account) expires() int64 {
	if a.Key.Expires.IsZero() {
		return 0
	}
	return a.Key.Expires.Unix()
}

// TokenUsage returns the answer to GET /api/usage/token in the shape of new-api.
func (a *Account) TokenUsage() []byte {
	left := int64(0)
	if a.Left != nil {
		left = *a.Left / nanosPerQuota
	}
	used := (a.Used + nanosPerQuota - 1) / nanosPerQuota
	models := make(map[string]bool)
	for _, pattern := range a.Key.Bound() {
		models[string(pattern)] = true
	}
	return marshal(map[string]any{"code": true, "message": "ok", "data": map[string]any{
		"object": "token_usage", "name": a.Key.ID, "total_granted": used + left, "total_used": used, "total_available": left,
		"unlimited_quota": a.Left == nil, "model_limits": models, "model_limits_enabled": len(models) > 0, "expires_at": a.expires(),
	}})
}

// Subscription returns the answer to GET /dashboard/billing/subscription.
func (a *Account) Subscription() []byte {
	limit := a.limitUSD()
	return marshal(map[string]any{
		"object": "billing_subscription", "has_payment_method": true,
		"soft_limit_usd": limit, "hard_limit_usd": limit, "system_hard_limit_usd": limit, "access_until": a.expires(),
	})
}

// dailyCost contains the costs of a day in the answer of Usage.
type dailyCost struct {
	Timestamp int64      `json:"timestamp"` // Unix seconds
	LineItems []lineItem `json:"line_items"`
}

type lineItem struct {
	Name string  `json:"name"` // of the model
	Cost float64 `json:"cost"` // cents
}

// Usage returns the answer to GET /dashboard/billing/usage. Its total is the usage of all
// time, not of the days, because clients subtract it from the limit.
func (a *Account) Usage() []byte {
	costs := []dailyCost{}
	for _, sum := range a.Days {
		if sum.Cost.Currency != Currency {
			continue
		}
		moment := sum.At.Unix()
		if i := len(costs) - 1; i < 0 || costs[i].Timestamp != moment {
			costs = append(costs, dailyCost{Timestamp: moment})
		}
		last := &costs[len(costs)-1]
		last.LineItems = append(last.LineItems, lineItem{sum.Model, cents(sum.Cost.Nanos)})
	}
	return marshal(map[string]any{"object": "list", "total_usage": cents(a.Used), "daily_costs": costs})
}

func cents(nanos int64) float64 { return float64(nanos) / nanosPerCent }

// Spent returns the cost in USD of sums without dimensions, in nanos. There is one such sum
// for each currency.
func Spent(sums []accounting.Usage) int64 {
	i := slices.IndexFunc(sums, func(sum accounting.Usage) bool { return sum.Cost.Currency == Currency })
	if i < 0 {
		return 0
	}
	return sums[i].Cost.Nanos
}

// longestDays is the longest period for costs by day.
const longestDays = 366 * 24 * time.Hour

// Days returns the period from the beginning of the day start to the beginning of the day
// end. It returns an error, whose text begins with the name of the wrong parameter, if one
// of the two is not a date, or the period is empty or longer than a year.
func Days(start, end string, zone *time.Location) (first, last time.Time, err *PeriodError) {
	first, wrong := aigateway.ParseDay(start, zone)
	if wrong != nil {
		return first, last, &PeriodError{"start_date", "must be a date such as 2026-01-31"}
	}
	last, wrong = aigateway.ParseDay(end, zone)
	switch {
	case wrong != nil:
		err = &PeriodError{"end_date", "must be a date such as 2026-01-31"}
	case !first.Before(last):
		err = &PeriodError{"end_date", "must be behind start_date"}
	case last.Sub(first) > longestDays:
		err = &PeriodError{"end_date", "must be at most 366 days behind start_date"}
	}
	return first, last, err
}

// PeriodError is a wrong parameter of a request for costs by day.
type PeriodError struct {
	Param string // its name
	What  string // the requirement that it does not meet
}

func (e *PeriodError) Error() string { return e.Param + ": " + e.What }

func marshal(value any) []byte {
	body, err := json.Marshal(value)
	if err != nil { // the types of this package can be marshaled
		panic(err)
	}
	return body
}
