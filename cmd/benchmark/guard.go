package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// bound is what a scenario costs with the gateway when everything is on.
type bound struct {
	scenario    string
	ratio       float64 // of the processor time, beside reverse_proxy
	allocations float64 // for a request
	reason      string  // what the cost beyond reverse_proxy is
}

// What a measurement may exceed its bound by: processors are shared, and a few allocations
// are those of other work, such as the collection of metrics.
const (
	slack  = 1.15
	others = 3
)

const guardedGateway = "full"

// bounds are what is reached. Lower a number when the gateway has become better, so that it
// cannot become worse again unseen; raise one only with its reason.
var bounds = []bound{
	{"chat 1 KB", 1.25, 232, "reading and checking the request, three limits with budgets, metrics and the record"},
	{"chat 100 KB", 1.33, 234, "the same, and one pass over the request"},
	{"messages stream", 1.25, 258, "the same, and an observer that reads the usage"},
	{"messages to chat 1 KB", 1.45, 270, "the translation of the request and the answer, with its limits, metrics and record"},
	{"messages to chat 100 KB", 2.05, 270, "the same: the request is read once and written once"},
	{"messages to chat stream", 1.45, 303, "the translation of 100 events, and the check that the stream is whole"},
}

// guarded returns the scenarios of the bounds.
func guarded() []scenario {
	return slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool {
		return !slices.ContainsFunc(bounds, func(b bound) bool { return b.scenario == s.name })
	})
}

// keepGuard measures the scenarios of the bounds, and returns an error for each that exceeds
// its bound twice.
func (b bench) keepGuard(ctx context.Context) error {
	b.gateways = slices.DeleteFunc(slices.Clone(setups), func(s setup) bool { return s.name != baseline && s.name != guardedGateway })
	failures, err := b.exceeded(ctx, b.scenarios)
	if err != nil || len(failures) == 0 {
		return err
	}
	fmt.Println("measuring again what exceeds its bound")
	again := slices.DeleteFunc(slices.Clone(b.scenarios), func(s scenario) bool { return failures[s.name] == nil })
	if failures, err = b.exceeded(ctx, again); err != nil {
		return err
	}
	for _, s := range again {
		err = errors.Join(err, failures[s.name])
	}
	return err
}

// exceeded measures scenarios, and returns an error for each that exceeds its bound.
func (b bench) exceeded(ctx context.Context, all []scenario) (map[string]error, error) {
	results, err := b.measureAll(ctx, all)
	if err != nil {
		return nil, err
	}
	failures := map[string]error{}
	for _, bound := range bounds {
		ratio, count, measured := least(results, bound.scenario)
		if !measured {
			continue
		}
		fmt.Printf("%.2f of %.2f, %4.0f of %4.0f allocations  %s\n", ratio, bound.ratio*slack, count, bound.allocations+others, bound.scenario)
		if err := bound.check(ratio, count); err != nil {
			failures[bound.scenario] = err
		}
	}
	return failures, nil
}

// least returns the least that the results prove: the ratio of the fastest rounds, or the
// median of the ratios of all rounds, and the fewest allocations.
func least(results []result, scenario string) (ratio, count float64, measured bool) {
	results = slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Scenario != scenario })
	if len(results) == 0 {
		return 0, 0, false
	}
	fewest := func(gateway, figure string) float64 {
		var values []float64
		for _, r := range results {
			if r.Gateway == gateway {
				values = append(values, r.Figures[figure])
			}
		}
		return slices.Min(values)
	}
	of := summaryOf(results, scenario, guardedGateway).ratio()
	return min(of, fewest(guardedGateway, cpu)/fewest(baseline, cpu)), fewest(guardedGateway, allocations), true
}

func (b bound) check(ratio, count float64) error {
	switch {
	case ratio > b.ratio*slack:
		return fmt.Errorf("%s takes %.2f times as long as reverse_proxy, more than %.2f; it should for %s", b.scenario, ratio, b.ratio*slack, b.reason)
	case count > b.allocations+others:
		return fmt.Errorf("%s makes %.0f allocations, more than %.0f", b.scenario, count, b.allocations+others)
	}
	return nil
}
