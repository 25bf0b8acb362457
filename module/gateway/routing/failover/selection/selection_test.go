package selection_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
)

func target(name string, weight int, keys ...string) catalog.Target {
	if len(keys) == 0 {
		keys = []string{""}
	}
	return catalog.Target{Provider: &catalog.Provider{Name: name, Service: name, APIKeys: keys}, Weight: weight}
}

func model(steps ...[]catalog.Target) *catalog.Model {
	return &catalog.Model{Targets: slices.Concat(steps...), Steps: steps}
}

// names returns the candidates for a session as "provider/key".
func names(m *catalog.Model, session uint64, memory *health.Memory) []string {
	var list []string
	candidates, _ := selection.Order(m, "m", selection.Seeds{Session: session}, memory, nil)
	for _, c := range candidates {
		list = append(list, c.Provider.Name+c.Provider.APIKeys[c.APIKey])
		if c.Health != (health.ID{Provider: c.Provider.Service, Key: c.Provider.APIKeys[c.APIKey], Model: "m"}) {
			panic("another target's health")
		}
	}
	return list
}

func rests(m *health.Memory, provider, key string, d time.Duration) {
	v, _ := m.Begin(health.ID{Provider: provider, Key: key, Model: "m"}, 0)
	v.End(health.Outcome{Class: health.RateLimited, RetryAfter: d}, health.Rules{First: health.DefaultRest})
}

func session(i int) uint64 { return rendezvous.Seed(fmt.Sprint(i)) }

func TestStepsKeepTheirOrder(t *testing.T) {
	m := model([]catalog.Target{target("a", 1)}, []catalog.Target{target("b", 1)}, []catalog.Target{target("c", 1)})
	for i := range 100 {
		assert.Equal(t, []string{"a", "b", "c"}, names(m, session(i), new(health.Memory)))
	}
}

func TestTargetsOfOneStepShareSessionsByWeight(t *testing.T) {
	m := model([]catalog.Target{target("a", 3), target("b", 1)}, []catalog.Target{target("c", 1)})
	first := make(map[string]int)
	for i := range 4000 {
		order := names(m, session(i), new(health.Memory))
		assert.Equal(t, order, names(m, session(i), new(health.Memory)), "a session stays")
		assert.Equal(t, "c", order[2])
		first[order[0]]++
	}
	assert.InDelta(t, 3000, first["a"], 120)
	assert.Equal(t, "a", m.Steps[0][0].Provider.Name, "the configuration is not sorted")
}

func TestRequestsWithoutASessionAreSpread(t *testing.T) {
	m := model([]catalog.Target{target("a", 1), target("b", 1)})
	first := make(map[string]int)
	for range 400 {
		first[names(m, 0, new(health.Memory))[0]]++
	}
	assert.InDelta(t, 200, first["a"], 80)
}

func TestAPIKeysShareSessions(t *testing.T) {
	m := model([]catalog.Target{target("a", 1, "1", "2", "3", "4")})
	first := make(map[string]int)
	for i := range 4000 {
		order := names(m, session(i), new(health.Memory))
		assert.Len(t, order, 4)
		first[order[0]]++
	}
	for key, n := range first {
		assert.InDelta(t, 1000, n, 150, key)
	}
}

func TestTheRestingTargetThatRecoversFirstComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model([]catalog.Target{target("a", 1)}, []catalog.Target{target("b", 1)}, []catalog.Target{target("c", 1, "1", "2")})
		var memory health.Memory
		rests(&memory, "a", "", time.Minute)
		assert.ElementsMatch(t, []string{"b", "c1", "c2", "a"}, names(m, 1, &memory))
		assert.Equal(t, "a", names(m, 1, &memory)[3])
		_, resting := selection.Order(m, "m", selection.Seeds{Session: 1}, &memory, nil)
		assert.Equal(t, m.Steps[0], resting)
		rests(&memory, "c", "2", time.Second)
		assert.Equal(t, []string{"b", "c1", "c2"}, names(m, 1, &memory), "of those that rest, one")
		rests(&memory, "b", "", 2*time.Minute)
		rests(&memory, "c", "1", 3*time.Minute)
		assert.Equal(t, []string{"c2"}, names(m, 1, &memory), "all rest")
		time.Sleep(90 * time.Second)
		assert.Equal(t, []string{"a", "c2", "b"}, names(m, 1, &memory))
	})
}

// Sessions of a target that rests go elsewhere, and those of the others stay.
func TestOnlyTheSessionsOfARestingTargetMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model([]catalog.Target{target("a", 1), target("b", 1), target("c", 1)})
		var healthy, ill health.Memory
		rests(&ill, "b", "", time.Minute)
		for i := range 300 {
			before, after := names(m, session(i), &healthy), names(m, session(i), &ill)
			if before[0] != "b" {
				assert.Equal(t, before[0], after[0])
			}
			assert.Equal(t, "b", after[2])
		}
	})
}

// The arms of an experiment have their shares of customers, who stay in every process and at every
// model name of their own. By the session, one customer met both arms, and the customers of one arm were
// those of the same arm of every other experiment.
func TestArmsShareCustomersByWeight(t *testing.T) {
	const customers = 20_000
	split := func(name aigateway.Pattern, keys ...string) *catalog.Model {
		m := model([]catalog.Target{target("a", 90, keys...), target("b", 10)})
		m.Pattern, m.SplitBy = name, "customer"
		return m
	}
	m, other, more := split("m"), split("other"), split("m", "1", "2")
	armOf := func(m *catalog.Model, customer, i int) string {
		key := &aigateway.Key{ID: "k", Labels: aigateway.Labels{Customer: fmt.Sprint("customer-", customer)}}
		candidates, _ := selection.Order(m, "m", selection.Seeds{Session: session(i), Arm: m.Arm(key, session(i))}, new(health.Memory), nil)
		return candidates[0].Provider.Name
	}
	inB, inBoth := 0, 0
	for i := range customers {
		arm := armOf(m, i, i)
		assert.Equal(t, arm, armOf(m, i, i+1), "whatever the session is")
		assert.Equal(t, arm, armOf(more, i, i), "whatever the API keys are")
		if arm == "b" {
			inB++
			if armOf(other, i, i) == "b" {
				inBoth++
			}
		}
	}
	assert.InDelta(t, 0.1*customers, inB, 0.02*customers)
	assert.InDelta(t, 0.1*float64(inB), inBoth, 0.05*float64(inB), "experiments are independent of each other")
}

// The arms of documented values never change: the customers of an experiment stay after an upgrade.
func TestTheArmOfACustomerIsKnown(t *testing.T) {
	m := model([]catalog.Target{target("a", 1), target("b", 1)})
	m.Pattern, m.SplitBy = "m", "customer"
	assert.Equal(t, rendezvous.Seed("m", "customer", "c"), m.Arm(&aigateway.Key{ID: "k", Labels: aigateway.Labels{Customer: "c"}}, 7))
	assert.Equal(t, rendezvous.Seed("m", "key", "k"), m.Arm(&aigateway.Key{ID: "k"}, 7), "without a customer")
	m.SplitBy = "session"
	assert.Equal(t, rendezvous.Seed("m", "session", "ff"), m.Arm(&aigateway.Key{ID: "k"}, 255))
	assert.Equal(t, rendezvous.Seed("m", "key", "k"), m.Arm(&aigateway.Key{ID: "k"}, 0), "without a session")
	m.SplitBy = ""
	assert.Zero(t, m.Arm(&aigateway.Key{ID: "k"}, 7))
}

// The shares of 20,000 requests are within 2 % of those of the weights, of sessions as of customers and of
// requests without either; two gateways agree about each session.
func TestSharesAreThoseOfTheWeights(t *testing.T) {
	const requests = 20_000
	steps := []catalog.Target{target("a", 70), target("b", 20), target("c", 10)}
	m, other := model(steps), model(slices.Clone(steps))
	m.Pattern, m.SplitBy = "m", "customer"
	for name, seeds := range map[string]func(i int) selection.Seeds{
		"sessions": func(i int) selection.Seeds { return selection.Seeds{Session: session(i)} },
		"customers": func(i int) selection.Seeds {
			return selection.Seeds{Session: 1, Arm: m.Arm(&aigateway.Key{Labels: aigateway.Labels{Customer: fmt.Sprint(i)}}, 1)}
		},
		"random": func(int) selection.Seeds { return selection.Seeds{} },
	} {
		firsts := make(map[string]float64)
		for i := range requests {
			candidates, _ := selection.Order(m, "m", seeds(i), new(health.Memory), nil)
			firsts[candidates[0].Provider.Name]++
			if s := seeds(i); s.Session != 0 {
				there, _ := selection.Order(other, "m", s, new(health.Memory), nil)
				assert.Equal(t, candidates[0].Provider.Name, there[0].Provider.Name)
			}
		}
		for i := range steps {
			assert.InDelta(t, float64(steps[i].Weight)/100, firsts[steps[i].Provider.Name]/requests, 0.02, name)
		}
	}
}
