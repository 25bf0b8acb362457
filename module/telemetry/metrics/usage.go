package metrics

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

var (
	tokens = counter("tokens_total",
		"Tokens that calls of providers have used, by kind. Each token has one kind.",
		"provider", "model", "kind")

	cost = counter("cost_usd_total",
		"Cost of calls of providers in US dollars, as far as it is known. The ledger has the exact cost.",
		"provider", "model")

	saved = counter("saved_usd_total",
		"What the cache of answers has saved in US dollars, at the prices of calls that were not made.",
		"provider", "model")

	unpriced = counter("unpriced_total", "Calls of providers whose cost is unknown, or known in part.", "provider", "model")

	searches = counter("searches_total", "Searches of the web that providers made.", "provider", "model")

	usageSources = counter("usage_sources_total",
		"Calls of providers, by the source of their numbers of tokens.",
		"provider", "source")

	pricesTime = gauge("prices_timestamp_seconds", "Time of the newest price of a table, in Unix seconds.", "origin")
)

// Usage is the usage of a call.
type Usage struct {
	Provider, Model string // Model is a name or pattern of the configuration
	Source          string // of the numbers: provider, partial, ...
	Counts          token.Counts
	Priced          bool    // the whole cost is known
	USD             float64 // what is known of the cost, if the currency is the US dollar
	Saved           float64 // what the cost would have been without the cache of answers, in the same currency
}

// Use counts the usage of a call.
func Use(u Usage) {
	usageSources.WithLabelValues(u.Provider, u.Source).Inc()
	u.add("fresh", u.Counts.Fresh)
	u.add("cache_read", u.Counts.CacheRead)
	u.add("cache_write", u.Counts.CacheWrite)
	u.add("cache_write_long", u.Counts.CacheWriteLong)
	u.add("answer", u.Counts.Answer)
	u.add("reasoning", u.Counts.Reasoning)
	if u.Counts.Searches > 0 {
		searches.WithLabelValues(u.Provider, u.Model).Add(float64(u.Counts.Searches))
	}
	if !u.Priced {
		unpriced.WithLabelValues(u.Provider, u.Model).Inc()
	}
	if u.USD > 0 {
		cost.WithLabelValues(u.Provider, u.Model).Add(u.USD)
	}
	if u.Saved > 0 {
		saved.WithLabelValues(u.Provider, u.Model).Add(u.Saved)
	}
}

// add adds tokens of a kind. A kind that never occurs gets no series.
func (u *Usage) add(kind string, n int64) {
	if n > 0 {
		tokens.WithLabelValues(u.Provider, u.Model, kind).Add(float64(n))
	}
}

// SetPricesTime sets the time of the newest price of a table. origin is "builtin" for the
// table that is compiled in, or "file". SetPricesTime ignores the zero time.
func SetPricesTime(origin string, t time.Time) {
	if t.IsZero() {
		return
	}
	pricesTime.WithLabelValues(origin).Set(float64(t.Unix()))
}
