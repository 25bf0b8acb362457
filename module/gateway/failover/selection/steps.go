package selection

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
)

// trialShare is the number of sessions of which one tries targets without a known latency first.
const trialShare = 50

// Steps returns the targets of a model in the order in which they are tried; those of one step share
// the requests. Without a measure, the order is that of the configuration.
//
// By a measure, the targets that share the requests of the best one are the first step; the others
// follow, each as a step. Those with an unknown value come last, in the order of the configuration.
// By latency, a few sessions try these first, because only streams make a latency known.
func Steps(m *catalog.Model, session uint64, by catalog.Measure) (steps [][]catalog.Target) {
	if by == nil {
		return m.Steps
	}
	type valued struct {
		catalog.Target
		value int64
	}
	known := make([]valued, 0, len(m.Targets))
	var unknown, shared []catalog.Target
	for i := range m.Targets {
		if value, ok := by(&m.Targets[i]); ok {
			known = append(known, valued{m.Targets[i], value})
		} else {
			unknown = append(unknown, m.Targets[i])
		}
	}
	if m.Order.By == catalog.OrderByLatency && len(known) == 0 {
		return [][]catalog.Target{unknown}
	}
	slices.SortStableFunc(known, func(a, b valued) int { return cmp.Compare(a.value, b.value) })
	for i, t := range known {
		if i == 0 || m.Order.IsShared(t.value, known[0].value) {
			shared = append(shared, t.Target)
			continue
		}
		steps = append(steps, []catalog.Target{t.Target})
	}
	if len(shared) > 0 {
		steps = slices.Insert(steps, 0, shared)
	}
	if len(unknown) > 0 && m.Order.By == catalog.OrderByLatency && session%trialShare == 0 {
		return slices.Insert(steps, 0, unknown)
	}
	for _, t := range unknown {
		steps = append(steps, []catalog.Target{t})
	}
	return steps
}
