package limits

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
)

// Chain is the list of limits that apply to a key, the innermost first. The zero Chain
// admits every request.
type Chain struct {
	limits   []*aigateway.Limit
	limiter  aigateway.Limiter  // nil without limits
	currency string             // of all budgets; empty without a budget
	hard     bool               // a budget refuses requests that exceed it
	priced   bool               // a budget refuses models without a price
	spending aigateway.Spending // nil without a budget
	book     *backends.Book     // of spending
	logger   *zap.Logger
	models   models // of the limits that count some only
	narrowed narrowed

	evaded error // of users who can make keys with the chain; nil if they cannot evade it
}

// newChain returns the chain of limits. The list of limits may be empty.
func newChain(counters aigateway.Counters, limits []*aigateway.Limit) (*Chain, error) {
	c, err := describe(limits)
	if err == nil && len(limits) > 0 {
		c.limiter, err = counters.Limiter(limits)
	}
	return c, err
}

// describe returns the chain of limits without a limiter.
func describe(limits []*aigateway.Limit) (*Chain, error) {
	c := &Chain{limits: limits, logger: zap.NewNop(), evaded: aigateway.CheckChosen(limits)}
	for _, limit := range limits {
		if err := c.add(limit); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add sets the fields of the chain that depend on the budget of a limit.
func (c *Chain) add(limit *aigateway.Limit) error {
	if !limit.Budget.IsSet() {
		return nil
	}
	if unit := limit.Budget.Unit(); c.currency != "" && c.currency != unit {
		return fmt.Errorf("is within a budget of another currency: %s and %s", c.currency, unit)
	}
	c.currency = limit.Budget.Unit()
	c.hard = c.hard || !limit.Budget.Soft
	c.priced = c.priced || !limit.Budget.Soft && !limit.AllowUnpriced
	return nil
}

// Currency returns the currency of the budgets, empty without a budget.
func (c *Chain) Currency() string { return c.currency }

// Amend changes what budgets have counted for a key. Counters that cannot be changed count too much
// until they read the ledger.
func (c *Chain) Amend(ctx context.Context, key *aigateway.Key, change aigateway.Amendment) error {
	if amender, ok := c.limiter.(aigateway.Amender); ok {
		return amender.Amend(ctx, aigateway.Demand{Key: key, Spending: c.spending}, change)
	}
	return nil
}

// Limits returns the limits, the innermost first.
func (c *Chain) Limits() []*aigateway.Limit { return c.limits }

// Empty reports whether the chain has no limits.
func (c *Chain) Empty() bool { return c.limiter == nil }

// CountsUse reports whether a limit refuses requests by the tokens or the costs of earlier ones.
func (c *Chain) CountsUse() bool {
	return c.priced || slices.ContainsFunc(c.limits, func(l *aigateway.Limit) bool { return l.Tokens.Most > 0 })
}

// NeedsLedger reports whether a request must not be served without a record, because a
// budget that refuses requests would miss its cost.
func (c *Chain) NeedsLedger() bool { return c.hard }
