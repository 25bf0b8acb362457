package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// registry returns a registry like the one that Caddy creates for each configuration.
func registry(t *testing.T) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	require.NoError(t, Register(r))
	return r
}

// family is a metric in a scrape.
type family struct {
	values map[string]float64 // of counters and gauges, by the values of their labels
	series int                // number of series in Prometheus
}

func gather(t *testing.T) map[string]family {
	t.Helper()
	families, err := registry(t).Gather()
	require.NoError(t, err)
	byName := make(map[string]family)
	for _, f := range families {
		gathered := family{values: make(map[string]float64)}
		for _, m := range f.GetMetric() {
			gathered.series++
			if h := m.GetHistogram(); h != nil {
				gathered.series += len(h.GetBucket()) + 2 // +Inf, sum and count
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			gathered.values[strings.Join(labels, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
		byName[strings.TrimPrefix(f.GetName(), "caddy_ai_gateway_")] = gathered
	}
	return byName
}

// countEverything counts one event of each kind.
func countEverything(provider, model, limit string) {
	BeginExchange("chat")
	OpenSocket("responses")()
	Mirror(model, "answered")
	Hedge(model, "called")
	EndExchange(Exchange{"chat", model, provider, "answered", time.Second})
	Overhead("chat", time.Millisecond)
	Attempt(provider, model, "answered")
	Choice(model, provider, "cost")
	Fallback(model, provider, "overloaded")
	FirstEvent(model, provider, time.Second)
	EventGaps(provider).Observe(.02)
	Loss(provider, "chat", "messages", "hint", "seed")
	Use(Usage{provider, model, "provider", token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, CacheWriteLong: 4, Answer: 5, Reasoning: 6, Searches: 7}, true, .25, .5})
	Use(Usage{Provider: provider, Model: model, Source: "none"})
	SetPricesTime("builtin", time.Unix(1_700_000_000, 0))
	LimitDecision(limit, "", Admitted)
	GuardVerdict("g", GuardBlocked)
	MoveBudget(limit, "", Below50)
	CounterCall("admit", "ok", time.Millisecond)
	CounterFallback("allow")
	LedgerRecords(RecordsApplied, 3)
	LedgerAppend(time.Millisecond)
	LedgerApply(time.Millisecond)
	LedgerOrphans(1)
	LedgerRefusal()
	LedgerDamaged()
}

// The dashboards of operators depend on the names.
func TestNamesOfMetrics(t *testing.T) {
	countEverything("p", "m", "l")
	t.Cleanup(WatchLedger(func() LedgerState { return LedgerState{Pending: 1} }))
	t.Cleanup(WatchProviders(func() map[string]bool { return map[string]bool{"p": true} }))
	t.Cleanup(WatchLimits(func() []LimitLevel { return []LimitLevel{{Limit: "l", Scope: "group", Rule: "budget"}} }))
	families := gather(t)
	for name := range strings.FieldsSeq(`
		exchanges_total exchange_duration_seconds time_to_first_event_seconds event_gap_seconds overhead_seconds in_flight open_websockets mirrors_total hedges_total
		attempts_total choices_total fallbacks_total provider_available losses_total
		tokens_total cost_usd_total saved_usd_total unpriced_total searches_total usage_sources_total prices_timestamp_seconds
		limit_decisions_total guard_verdicts_total budgets limit_used limit_reserved limit_left counters_duration_seconds counters_fallback_total
		ledger_records_total ledger_pending_records ledger_journal_bytes ledger_oldest_pending_seconds
		ledger_append_seconds ledger_apply_seconds ledger_orphans_total ledger_refusals_total ledger_damaged_total`) {
		assert.Contains(t, families, name)
		delete(families, name)
	}
	assert.Empty(t, families)
}

func TestAWebSocketIsCountedUntilItIsClosed(t *testing.T) {
	first, second := OpenSocket("spoken"), OpenSocket("spoken")
	assert.Equal(t, 2.0, gather(t)["open_websockets"].values["spoken"])
	first()
	second()
	assert.Zero(t, gather(t)["open_websockets"].values["spoken"])
}

// L059: a configuration has a registry of its own, and its sites register the metrics
// once each.
func TestL059MetricsContinueOverReloads(t *testing.T) {
	Attempt("steady", "m", "answered")
	for range 5 {
		r := registry(t)
		require.NoError(t, Register(r))
		Attempt("steady", "m", "answered")
	}
	assert.Equal(t, 6.0, gather(t)["attempts_total"].values["m steady answered"])
}

// The series of a name that only the old configuration has are deleted; the series of a name
// that the new configuration has, too, stay.
func TestSeriesOfNamesThatAreGoneDisappear(t *testing.T) {
	both := Hold(Names{Providers: []string{"kept", "gone"}, Models: []string{"gone-model"}, Limits: []string{"gone-limit"}})
	countEverything("kept", "kept-model", "kept-limit")
	countEverything("gone", "kept-model", "kept-limit")
	countEverything("kept", "gone-model", "gone-limit")
	after := Hold(Names{Providers: []string{"kept"}})
	both()
	both() // a second call has no effect
	assert.NotContains(t, fmt.Sprint(gather(t)), "gone")
	assert.Contains(t, fmt.Sprint(gather(t)), "kept ")
	after()
	assert.NotContains(t, fmt.Sprint(gather(t)), "kept ")
}

// A gateway of 30 models and 6 providers, where every third model has a fallback, each
// model is used in all formats, and everything happens that can happen.
func TestSeriesOfALargeGateway(t *testing.T) {
	before := series(t)
	names := Names{Limits: []string{"small", "large"}}
	for m := range 30 {
		names.Models = append(names.Models, fmt.Sprintf("model-%d", m))
	}
	for p := range 6 {
		names.Providers = append(names.Providers, fmt.Sprintf("provider-%d", p))
	}
	t.Cleanup(Hold(names))
	for m, model := range names.Models {
		useEverything(model, names.Providers[m%6])
		if m%3 == 0 {
			useEverything(model, names.Providers[(m+1)%6])
		}
	}
	for _, limit := range names.Limits {
		for _, rule := range []string{"requests", "tokens", "concurrent", "budget"} {
			LimitDecision(limit, rule, Refused)
		}
	}
	assert.LessOrEqual(t, series(t)-before, 3000)
}

func useEverything(model, provider string) {
	for _, format := range []string{"messages", "chat", "completions", "responses"} {
		for _, outcome := range []string{"answered", "failed", "cut", "client_closed"} {
			EndExchange(Exchange{format, model, provider, outcome, time.Second})
		}
		EndExchange(Exchange{Format: format, Model: model, Outcome: "refused"})
		Overhead(format, time.Millisecond)
	}
	for _, result := range []string{"answered", "client_closed", "cut", "overloaded", "rate_limited", "timeout", "unreachable"} {
		Attempt(provider, model, result)
	}
	Fallback(model, provider, "overloaded")
	Fallback(model, provider, "timeout")
	FirstEvent(model, provider, time.Second)
	EventGaps(provider).Observe(1)
	for _, source := range []string{"none", "provider", "partial", "estimated"} {
		Use(Usage{provider, model, source, token.Counts{Fresh: 1, CacheRead: 1, CacheWrite: 1, CacheWriteLong: 1, Answer: 1, Reasoning: 1}, true, 1, 0})
	}
}

func series(t *testing.T) (n int) {
	t.Helper()
	for _, f := range gather(t) {
		n += f.series
	}
	return n
}

func TestCountingAllocatesNothing(t *testing.T) {
	gaps := EventGaps("p")
	for name, event := range map[string]func(){
		"exchange":    func() { BeginExchange("chat"); EndExchange(Exchange{"chat", "m", "p", "answered", time.Second}) },
		"attempt":     func() { Attempt("p", "m", "answered") },
		"first event": func() { FirstEvent("m", "p", time.Second) },
		"event":       func() { gaps.Observe(.01) },
		"usage": func() {
			Use(Usage{"p", "m", "provider", token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, CacheWriteLong: 4, Answer: 5, Reasoning: 6, Searches: 7}, true, .25, 0})
		},
		"decision": func() { LimitDecision("l", "", Admitted) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, event), name)
	}
}

// A scrape reads the states of all ledgers, and adds them up.
func TestStatesOfLedgers(t *testing.T) {
	assert.NotContains(t, gather(t), "ledger_pending_records")
	first := WatchLedger(func() LedgerState { return LedgerState{Pending: 2, Bytes: 100} })
	second := WatchLedger(func() LedgerState { return LedgerState{Pending: 3, Bytes: 50, Oldest: time.Now().Add(-time.Hour)} })
	families := gather(t)
	assert.Equal(t, 5.0, families["ledger_pending_records"].values[""])
	assert.Equal(t, 150.0, families["ledger_journal_bytes"].values[""])
	assert.InDelta(t, 3600, families["ledger_oldest_pending_seconds"].values[""], 60)
	first()
	second()
	assert.NotContains(t, gather(t), "ledger_pending_records")
}

// During a reload, two configurations show the same limit. A scrape with a series twice is
// refused as a whole.
func TestALimitOfSeveralConfigurationsHasOneSeries(t *testing.T) {
	level := func(left float64) func() []LimitLevel {
		return func() []LimitLevel {
			return []LimitLevel{{Limit: "all", Scope: "gateway", Rule: "budget", Used: 10 - left, Left: left}, {Limit: "all", Scope: "gateway", Rule: "budget", Left: 10}}
		}
	}
	t.Cleanup(WatchLimits(level(3)))
	t.Cleanup(WatchLimits(level(2)))
	families := gather(t)
	assert.Equal(t, map[string]float64{"all gateway budget": 2}, families["limit_left"].values)
	assert.Equal(t, map[string]float64{"all gateway budget": 8}, families["limit_used"].values)
}
