package state

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// Targets returns the targets of all models with exact names, and those of other names
// that have failed lately or that run. Each API key has one at least, with the model "*".
func Targets(c *catalog.Catalog) []api.Target {
	var all []api.Target
	for _, name := range c.Names() {
		for _, candidate := range selection.All(c.Model(name), name) {
			all = append(all, targetOf(&candidate))
		}
	}
	for _, p := range c.Providers {
		all = append(all, remembered(c, p, all)...)
	}
	return all
}

// PageOfTargets returns a page of targets, by their providers. A target of several models or sites
// occurs once.
func PageOfTargets(all []api.Target, page Page) api.Page[api.Target] {
	slices.SortStableFunc(all, compare)
	all = slices.CompactFunc(all, func(a, b api.Target) bool { return compare(a, b) == 0 })
	return PageOf(all, page, func(t *api.Target) string { return t.Provider })
}

// remembered returns the targets of a provider that are not in known, the targets of exact
// names. Providers with the same preset and address share what is remembered; a model is shown for those
// which requests for it can ask.
func remembered(c *catalog.Catalog, p *catalog.Provider, known []api.Target) (all []api.Target) {
	for i, key := range p.APIKeys {
		models := slices.DeleteFunc(health.Process.Models(p.Service, key), func(model string) bool { return isElsewhere(c, p, model) })
		if len(models) == 0 && !slices.ContainsFunc(known, func(t api.Target) bool { return t.Provider == p.Name && t.APIKey == key }) {
			models = []string{"*"}
		}
		for _, model := range models {
			id := health.ID{Provider: p.Service, Key: key, Model: model}
			all = append(all, targetOf(&selection.Candidate{Target: &catalog.Target{Provider: p, Weight: 1}, APIKey: i, Health: id}))
		}
	}
	return all
}

// isElsewhere reports whether a model that a provider remembers is that of another provider with the same preset
// and address.
func isElsewhere(c *catalog.Catalog, p *catalog.Provider, model string) bool {
	return !c.LeadsTo(p, model) && slices.ContainsFunc(c.Providers, func(other *catalog.Provider) bool {
		return other.Service == p.Service && c.LeadsTo(other, model)
	})
}

// Providers returns whether each provider can be asked, by name: whether a target of a
// model with an exact name is not down, or other models are not known to be.
func Providers(c *catalog.Catalog) map[string]bool {
	available := make(map[string]bool)
	for _, p := range c.Providers {
		available[p.Name] = slices.ContainsFunc(p.APIKeys, func(key string) bool { return !health.Process.AllDown(p.Service, key) })
	}
	for _, name := range c.Names() {
		for _, candidate := range selection.All(c.Model(name), name) {
			available[candidate.Provider.Name] = available[candidate.Provider.Name] || !health.Process.IsDown(candidate.Health)
		}
	}
	return available
}

func compare(a, b api.Target) int {
	return slices.Compare([]string{a.Provider, a.Upstream, a.APIKey}, []string{b.Provider, b.Upstream, b.APIKey})
}

func targetOf(c *selection.Candidate) api.Target {
	state := health.Process.State(c.Health)
	t := api.Target{
		Provider: c.Provider.Name, Upstream: c.Health.Model, APIKey: c.Health.Key, Weight: c.Weight,
		State: api.Available, Running: state.Running,
	}
	if c.Provider.Calls.Queue != nil {
		t.Queue, t.Waiting = c.Provider.Calls.Queue.String(), queue.Process.Waiting(c.Provider.QueueName())
	}
	if state.Class != health.Healthy {
		t.State, t.Failure = api.Failing, state.Class.String()
	}
	if !state.RestEnd.IsZero() {
		until := state.RestEnd.UTC().Round(time.Second)
		t.State, t.RestEnd = api.Resting, &until
	}
	return t
}

// explanation is what is explained: the requests for a model by a name, in the format of a client.
type explanation struct {
	site  *Site
	model *catalog.Model
	seeds selection.Seeds

	// Exchange is an example, which has the name of the model, a key without an id for any key, and no body
	// unless there is one.
	ex      exchange.Exchange
	example *http.Request // of the exchange, that decides about conditions; nil for none
}

// seedsOf returns the seeds of the requests of a key for a model. session is what they state as their session;
// empty for an arbitrary one.
func seedsOf(m *catalog.Model, key *aigateway.Key, session string) selection.Seeds {
	var seed uint64
	if session != "" {
		seed = rendezvous.Seed(cmp.Or(key.Subject, key.ID), session)
	}
	seeds := selection.Seeds{Session: cmp.Or(seed, anySession)}
	if key.ID != "" || key.Customer != "" || session != "" {
		seeds.Arm = m.Arm(key, seed)
	}
	return seeds
}

// explain explains the requests. The targets of one step are in the order for one session.
func (x *explanation) explain() *api.Explanation {
	m := x.model
	name, client := x.ex.Request.View.Model, x.ex.Request.Format
	explained := &api.Explanation{
		Name: name, Pattern: string(m.Pattern), Format: client.Name, Attempts: m.Attempts, Order: m.Order.Criterion, SplitBy: m.SplitBy,
	}
	now := time.Now()
	charge := limits.ExampleCharge
	if x.example != nil {
		charge = limits.TypicalCharge(&x.ex)
	}
	measure := x.site.Catalog.Measure(m, name, client.Name, charge)
	candidates, _ := selection.Order(m, name, x.seeds, health.Process, measure)
	steps := selection.Steps(m, x.seeds.Session, measure)
	explained.Choice = candidates[0].Choice.String()
	if m.Hedge != nil && x.site.Guards.For(&x.ex, nil) == nil {
		explained.Hedge = m.Hedge.String()
	}
	if m.Mirror != nil {
		explained.Mirror = m.Mirror.String()
	}
	for _, candidate := range candidates {
		shown := choiceOf(&candidate, name, client)
		shown.Weight, shown.Total = share(steps, *candidate.Target)
		price := x.site.Catalog.Price(name, candidate.Provider.Name, candidate.Health.Model, now)
		shown.Measured = measuredOf(m.Order, candidate.Target, measure, price, charge)
		if price != nil {
			shown.Price = price.Name()
		}
		if candidate.If != nil {
			shown.Condition = candidate.If.String()
			shown.Unmet = x.example != nil && !candidate.Takes(x.example)
		}
		shown.PassedOver = x.passedOver(candidate.Target)
		shown.Facts = factsOf(candidate.Facts(name))
		shown.Warnings = (&target{x.site.Catalog, candidate.Target, name, limits.CurrenciesOf(x.site.KeyLimits)}).warnings(now)
		explained.Targets = append(explained.Targets, shown)
	}
	return explained
}

// passedOver returns in words which limit of its calls, or budget of the key, has too little left for a
// target now; "" for none. Only a model that falls back on budgets passes over a target for the budget of a key.
func (x *explanation) passedOver(t *catalog.Target) string {
	ctx := context.Background()
	lack, err := x.site.KeyLimits.Calls.Of(t).Lacks(ctx, new(aigateway.Key), &x.ex, t, x.site.Catalog, false)
	if lack == "" && err == nil && x.ex.Key.ID != "" && x.model.Fallback.OnBudget() {
		lack, err = x.site.KeyLimits.Of(x.ex.Key).Lacks(ctx, x.ex.Key, &x.ex, t, x.site.Catalog, true)
	}
	if err != nil {
		return "unknown: " + err.Error()
	}
	return lack
}

// measuredOf returns the value of a target in words, "" for a model without an order. charge is what is
// compared by its cost.
func measuredOf(order catalog.Order, t *catalog.Target, measure catalog.Measure, price *prices.Price, charge func(*catalog.Target) prices.Charge) string {
	if measure == nil {
		return ""
	}
	value, ok := measure(t)
	switch {
	case !ok:
		return "unknown"
	case order.Criterion == catalog.OrderByLatency:
		return time.Duration(value).Round(time.Millisecond).String() + " to the first content"
	}
	cost := aigateway.Cost{Nanos: value, Currency: price.Currency}
	tokens := charge(t).Tokens
	return fmt.Sprintf("%s for %d tokens with an answer of %d", cost, tokens.Fresh+tokens.CacheRead, tokens.Answer)
}

// factsOf returns what is known of a model, nil for nothing.
func factsOf(known *models.Facts) *api.Facts {
	if known == nil {
		return nil
	}
	shown := &api.Facts{Values: make(map[string]string), AsOf: known.AsOf, Source: known.Source, Own: !known.Builtin}
	for _, column := range known.Known() {
		shown.Values[column] = known.Value(column)
	}
	return shown
}

// share returns the share of each API key of a target in the requests of its step: weight of
// total. The API keys of a target share its requests equally.
func share(steps [][]catalog.Target, t catalog.Target) (weight, total int) {
	isTarget := func(other catalog.Target) bool { return other.Provider == t.Provider && other.Model == t.Model }
	for _, step := range steps {
		if !slices.ContainsFunc(step, isTarget) {
			continue
		}
		parts := 1 // divisible by the number of API keys of every target
		for _, member := range step {
			parts = leastCommonMultiple(parts, len(member.Provider.APIKeys))
		}
		for _, member := range step {
			total += member.Weight * parts
		}
		weight = t.Weight * parts / len(t.Provider.APIKeys)
		common := greatestCommonDivisor(weight, total)
		return weight / common, total / common
	}
	return t.Weight, t.Weight
}

func leastCommonMultiple(a, b int) int { return a / greatestCommonDivisor(a, b) * b }

func greatestCommonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// anySession is an arbitrary seed of a session.
const anySession = 1

func choiceOf(c *selection.Candidate, name string, client *format.Descriptor) api.Choice {
	shown := api.Choice{Target: targetOf(c), Losses: api.Losses{Reported: []string{}, Refused: []string{}, LeftOut: []string{}}}
	spoken := renegotiation.FormatFor(c.Provider, c.Health.Model, client, c.TraitsOf(name))
	switch spoken {
	case nil:
		return shown
	case client:
		shown.Lane = "bytes"
	default:
		known := pairs.CapabilitiesOf(client.Name, spoken.Name, renegotiation.TraitsFor(c.Provider, c.Health.Model, spoken, c.TraitsOf(name)))
		shown.Lane, shown.Reported, shown.Refused = "translated", known.Reported, known.Refused
	}
	shown.Format, shown.LeftOut = spoken.Name, c.Provider.LeftOut(spoken, c.Health.Model)
	shown.Counting = c.Counting(c.Health.Model, client, spoken)
	return shown
}
