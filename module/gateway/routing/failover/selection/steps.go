package selection

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

// trialShare is the number of sessions of which one tries targets without a known latency first.
const trialShare = 50

// Steps returns the targets of a model in the order in which they are tried; those of one step share
// the requests. Without a measure, the order is that of the configuration. With one, it is the order
// within each step of the configuration.
func Steps(m *catalog.Model, session uint64, measure catalog.Measure) (steps [][]catalog.Target) {
	if measure == nil {
		return m.Steps
	}
	for _, step := range m.Steps {
		steps = append(steps, ordered(m.Order, step, session, measure)...)
	}
	return steps
}

// ordered returns a step as steps in the order of a measure: first the targets that share the requests
// of the best one, then the others, each as a step. Those with an unknown value come last, in the order
// of the configuration. By latency, a few sessions try these first, because only streams make a latency
// known.
func ordered(order catalog.Order, step []catalog.Target, session uint64, measure catalog.Measure) (steps [][]catalog.Target) {
	type valued struct {
		catalog.Target
		value int64
	}
	known := make([]valued, 0, len(step))
	var unknown, shared []catalog.Target
	for i := range step {
		if value, ok := measure(&step[i]); ok {
			known = append(known, valued{step[i], value})
		} else {
			unknown = append(unknown, step[i])
		}
	}
	slices.SortStableFunc(known, func(a, b valued) int { return cmp.Compare(a.value, b.value) })
	for i, t := range known {
		if i > 0 && !order.IsShared(t.value, known[0].value) {
			steps = append(steps, []catalog.Target{t.Target})
			continue
		}
		shared = append(shared, t.Target)
	}
	if len(shared) > 0 {
		steps = slices.Insert(steps, 0, shared)
	}
	if len(unknown) > 0 && order.Criterion == catalog.OrderByLatency && (len(known) == 0 || session%trialShare == 0) {
		return slices.Insert(steps, 0, unknown)
	}
	for _, t := range unknown {
		steps = append(steps, []catalog.Target{t})
	}
	return steps
}
