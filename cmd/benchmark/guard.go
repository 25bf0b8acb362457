package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// bound is what a scenario costs with the gateway when everything is on.
type bound struct {
	scenario string
	ratio    float64 // of the processor time, beside reverse_proxy
	reason   string  // what the cost beyond reverse_proxy is
}

// slack is what a measurement may exceed its bound by, because processors are shared.
const slack = 1.15

const guardedGateway = "full"

// bounds are what is reached, on two busy processors. Lower a number when the gateway has
// become better, so that it cannot become worse again unseen; raise one only with its reason.
var bounds = []bound{
	{"chat 1 KB", 1.05, "reading and checking the request, three limits with budgets, metrics and the record"},
	{"chat 100 KB", 1.25, "the same, and one pass over the request"},
	{"messages stream", 1.14, "the same, and an observer that reads the usage"},
	{"messages to chat 1 KB", 1.30, "the translation of the request and the answer, with its limits, metrics and record"},
	{"messages to chat 100 KB", 1.85, "the same: the request is read once and written once"},
	{"messages to chat stream", 1.28, "the translation of 100 events, and the check that the stream is whole"},
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
		ratio, measured := least(results, bound.scenario)
		if !measured {
			continue
		}
		fmt.Printf("%.2f of %.2f  %s\n", ratio, bound.ratio*slack, bound.scenario)
		if err := bound.check(ratio); err != nil {
			failures[bound.scenario] = err
		}
	}
	return failures, nil
}

// least returns the least ratio that the results prove: that of the fastest rounds, or the
// median of the ratios of all rounds.
func least(results []result, scenario string) (ratio float64, measured bool) {
	results = slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Scenario != scenario })
	if len(results) == 0 {
		return 0, false
	}
	fastest := map[string]float64{}
	for _, r := range results {
		if known, later := fastest[r.Gateway]; !later || r.Figures[cpu] < known {
			fastest[r.Gateway] = r.Figures[cpu]
		}
	}
	return min(summaryOf(results, scenario, guardedGateway).ratio(), fastest[guardedGateway]/fastest[baseline]), true
}

func (b bound) check(ratio float64) error {
	if ratio > b.ratio*slack {
		return fmt.Errorf("%s takes %.2f times the processor time of reverse_proxy; at most %.2f is expected, for %s", b.scenario, ratio, b.ratio*slack, b.reason)
	}
	return nil
}
