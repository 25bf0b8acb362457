package selection_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

// orderedBy returns a model whose targets are ordered, in one step.
func orderedBy(order catalog.Order, targets ...catalog.Target) *catalog.Model {
	m := model(targets)
	m.Order = order
	return m
}

// firsts returns how many of some sessions each provider gets first.
func firsts(m *catalog.Model, sessions int, memory *health.Memory, by catalog.Measure) map[string]int {
	all := make(map[string]int)
	for i := range sessions {
		candidates, _ := selection.Order(m, "m", selection.Seeds{Session: session(i)}, memory, by)
		all[candidates[0].Provider.Name]++
	}
	return all
}

// valued returns a measure with a value for each provider; a provider without one is unknown.
func valued(values map[string]int64) catalog.Measure {
	return func(t *catalog.Target) (int64, bool) {
		value, ok := values[t.Provider.Name]
		return value, ok
	}
}

func TestTheBestTargetComesFirst(t *testing.T) {
	a, b, c, d := target("a", 1), target("b", 1), target("c", 1), target("d", 1)
	for name, test := range map[string]struct {
		order  catalog.Order
		values map[string]int64
		want   []string
	}{
		"cheapest first":             {catalog.Order{Criterion: catalog.OrderByCost}, map[string]int64{"a": 3, "b": 1, "c": 2, "d": 4}, []string{"b", "c", "a", "d"}},
		"unknown prices come last":   {catalog.Order{Criterion: catalog.OrderByCost}, map[string]int64{"c": 2, "b": 3}, []string{"c", "b", "a", "d"}},
		"no price is known":          {catalog.Order{Criterion: catalog.OrderByCost}, nil, []string{"a", "b", "c", "d"}},
		"a free target":              {catalog.Order{Criterion: catalog.OrderByCost, Margin: 50}, map[string]int64{"a": 1, "b": 0, "c": 2, "d": 3}, []string{"b", "a", "c", "d"}},
		"fastest first":              {catalog.Order{Criterion: catalog.OrderByLatency, Margin: 20}, map[string]int64{"a": 200, "b": 100, "c": 121, "d": 300}, []string{"b", "c", "a", "d"}},
		"the largest number is last": {catalog.Order{Criterion: catalog.OrderByCost, Margin: 900}, map[string]int64{"a": 1 << 62, "b": 1, "c": 11, "d": 12}, []string{"b", "c", "d", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := orderedBy(test.order, a, b, c, d)
			var got []string
			candidates, _ := selection.Order(m, "m", selection.Seeds{Session: 1}, new(health.Memory), valued(test.values))
			for _, c := range candidates {
				got = append(got, c.Provider.Name)
			}
			assert.Equal(t, test.want, got)
			assert.Equal(t, "a", m.Targets[0].Provider.Name, "the configuration is not sorted")
		})
	}
}

// Targets within the range of the best one share its sessions by their weights, and a session stays.
func TestTargetsNearTheBestShareTheSessions(t *testing.T) {
	m := orderedBy(catalog.Order{Criterion: catalog.OrderByCost, Margin: 10}, target("a", 1), target("b", 3), target("c", 5))
	by := valued(map[string]int64{"a": 110, "b": 100, "c": 111})
	got := firsts(m, 20_000, new(health.Memory), by)
	assert.InDelta(t, 5_000, got["a"], 400)
	assert.InDelta(t, 15_000, got["b"], 400)
	assert.Zero(t, got["c"])
	assert.Equal(t, got, firsts(m, 20_000, new(health.Memory), by))
}

// One session in 50 tries what no stream has shown: without it, a target that was slow once would be
// slow for ever.
func TestFewSessionsTryUnknownLatencies(t *testing.T) {
	m := orderedBy(catalog.Order{Criterion: catalog.OrderByLatency, Margin: 20}, target("a", 1), target("b", 1), target("c", 1))
	got := firsts(m, 20_000, new(health.Memory), valued(map[string]int64{"b": 100}))
	assert.InDelta(t, 19_600, got["b"], 200)
	assert.InDelta(t, 200, got["a"], 80)
	assert.InDelta(t, 200, got["c"], 80)
	all := firsts(m, 3_000, new(health.Memory), valued(nil))
	for provider, n := range all {
		assert.InDelta(t, 1_000, n, 150, provider)
	}
}

// The best target is left out while it rests, whatever its value.
func TestTheBestTargetRestsLikeAllOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := orderedBy(catalog.Order{Criterion: catalog.OrderByCost}, target("a", 1), target("b", 1))
		var memory health.Memory
		rests(&memory, "b", "", time.Minute)
		by := valued(map[string]int64{"a": 2, "b": 1})
		assert.Equal(t, map[string]int{"a": 100}, firsts(m, 100, &memory, by))
		_, resting := selection.Order(m, "m", selection.Seeds{Session: 1}, &memory, by)
		assert.Equal(t, "b", resting[0].Provider.Name)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, map[string]int{"b": 100}, firsts(m, 100, &memory, by))
	})
}

// By latency, noise moves the order once a minute at most. Only the sum of half an hour was counted, in which
// a minute with many changes did not show.
func TestNoiseChangesTheOrderOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := orderedBy(catalog.Order{Criterion: catalog.OrderByLatency, Margin: 5}, target("a", 1), target("b", 1))
		by := new(catalog.Catalog).Measure(m, "m", "chat", nil)
		changes, last := make(map[int64]int), ""
		for i := range 30 * 60 { // half an hour
			time.Sleep(time.Second)
			for n, t := range m.Targets {
				took := 300*time.Millisecond + time.Duration((i*7919+n*104729)%997)*200*time.Microsecond
				health.FirstContent.Note(t.Stream("m", "chat"), time.Now().Add(-took), time.Now())
			}
			if order := fmt.Sprint(len(selection.Steps(m, 1, by)), selection.Steps(m, 1, by)[0][0].Provider.Name); order != last {
				changes[time.Now().Unix()/60]++ // by the minute of the clock
				last = order
			}
		}
		assert.Greater(t, len(changes), 1, "the noise moves the order, which had its first one before")
		for _, n := range changes {
			assert.Equal(t, 1, n)
		}
	})
}

// Targets behind a step stay behind it: a cheaper model of another kind is a fallback, and no competitor.
func TestTargetsAreOrderedWithinTheirStep(t *testing.T) {
	m := model([]catalog.Target{target("a", 1), target("b", 1)}, []catalog.Target{target("c", 1)}, []catalog.Target{target("d", 1), target("e", 1)})
	m.Order = catalog.Order{Criterion: catalog.OrderByCost}
	var got []string
	candidates, _ := selection.Order(m, "m", selection.Seeds{Session: 1}, new(health.Memory), valued(map[string]int64{"a": 9, "b": 8, "c": 1, "d": 5, "e": 4}))
	for _, c := range candidates {
		got = append(got, c.Provider.Name)
	}
	assert.Equal(t, []string{"b", "a", "c", "e", "d"}, got)
}
