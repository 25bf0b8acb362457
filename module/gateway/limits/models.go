package limits

import (
	"slices"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// models are the models of the limits that count some models only, by the names of the limits.
type models map[string][]aigateway.Pattern

func (m models) addAll(limits []*Limit) {
	for _, limit := range limits {
		if len(limit.Models) > 0 {
			m[limit.Name] = limit.Models
		}
	}
}

// count reports whether a limit counts requests for a model, "" for one that is unknown: every limit
// counts these.
func (m models) count(limit *aigateway.Limit, model string) bool {
	patterns, some := m[limit.Name]
	return !some || limit.IsOwn() || model == "" || slices.ContainsFunc(patterns, func(p aigateway.Pattern) bool { return p.Covers(model) })
}

// bounding returns the limits without those that bound the keys of a user together for some models only:
// users could make keys for the others.
func (m models) bounding(limits []*aigateway.Limit) []*aigateway.Limit {
	return slices.DeleteFunc(slices.Clone(limits), func(l *aigateway.Limit) bool {
		_, some := m[l.Name]
		return some && !l.Per.Labelled() && l.Per != aigateway.PerKey
	})
}

// narrowed are the chains that lack limits which do not count a model. They are built when they are
// needed, as those of teams; models that the same limits count share a chain.
type narrowed struct {
	mu     sync.Mutex // held to build a chain
	chains sync.Map   // of *Chain by the bits of the limits that are left
}

// For returns the limits of a key that count requests for a model, by the name that the client uses; all
// limits of the key if the model is "", since it is unknown. It returns nil when Of does.
func (l *Limits) For(key *aigateway.Key, model string) *Chain {
	chain := l.Of(key)
	if len(l.models) == 0 || chain == nil || model == "" {
		return chain
	}
	left := uint64(0)
	for i, limit := range chain.limits {
		if l.models.count(limit, model) {
			left |= 1 << i
		}
	}
	if left == 1<<len(chain.limits)-1 {
		return chain
	}
	if found, ok := chain.narrowed.chains.Load(left); ok { // of nearly all requests
		return found.(*Chain)
	}
	return chain.narrow(l, left)
}

// narrow builds the chain of some limits of c. It returns nil, so that the request is refused, if
// there are no counters for it.
func (c *Chain) narrow(l *Limits, left uint64) *Chain {
	c.narrowed.mu.Lock()
	defer c.narrowed.mu.Unlock()
	if found, ok := c.narrowed.chains.Load(left); ok { // another request has built it
		return found.(*Chain)
	}
	var limits []*aigateway.Limit
	for i, limit := range c.limits {
		if left&(1<<i) != 0 {
			limits = append(limits, limit)
		}
	}
	narrow, err := newChain(l.counters, limits)
	if err != nil {
		return nil
	}
	l.attach(narrow)
	c.narrowed.chains.Store(left, narrow)
	return narrow
}
