package limits

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Calls are the limits of the calls of providers and targets, by the innermost limit of each target.
type Calls map[*aigateway.Limit]*Chain

// CountCalls makes l apply the limits of the calls of providers and targets. load loads the counters,
// unless l has some. Two providers with one name, of different sites, share their counts.
func (l *Limits) CountCalls(c *catalog.Catalog, load func() (aigateway.Counters, error)) (err error) {
	l.Calls = make(Calls)
	for t := range c.Limited() {
		if l.counters == nil {
			if l.counters, err = load(); err != nil {
				return fmt.Errorf("loading counters: %w", err)
			}
		}
		innermost := t.Limits[0]
		if l.Calls[innermost] != nil {
			continue
		}
		chain, err := newChain(l.counters, t.Limits)
		if err != nil {
			return fmt.Errorf("limit of '%s': %w", t, err)
		}
		chain.spending = &callSpending{provider: t.Provider.Name, upstream: t.Model, reaches: reachOf(c, t.Provider), limits: limitedBy(c, innermost)}
		l.Calls[innermost] = chain
	}
	return nil
}

// reachOf returns whether requests for a model, by the name that the client used, may ask a provider. They
// may if the model is not configured any more.
func reachOf(c *catalog.Catalog, p *catalog.Provider) func(model string) bool {
	return func(model string) bool {
		m := c.Model(model)
		return m == nil || slices.ContainsFunc(m.Targets, func(t catalog.Target) bool { return t.Provider == p })
	}
}

// limitedBy returns whether requests for a model, by the name that the client used, may ask a target with a
// limit. A name may match the pattern of the target's model, and yet be that of another one.
func limitedBy(c *catalog.Catalog, innermost *aigateway.Limit) func(model string) bool {
	return func(model string) bool {
		m := c.Model(model)
		return m != nil && slices.ContainsFunc(m.Targets, func(t catalog.Target) bool { return len(t.Limits) > 0 && t.Limits[0] == innermost })
	}
}

// attach connects the budgets of calls to the ledger that has their costs, nil if there is none.
func (c Calls) attach(book *backends.Book, logger *zap.Logger) error {
	for innermost, chain := range c {
		chain.logger = logger
		switch {
		case chain.currency == "":
			chain.spending = nil
		case book == nil:
			return fmt.Errorf("limit of %s: %w", innermost.Name, errNoLedger)
		default:
			chain.spending.(*callSpending).book, chain.book = book, book
		}
	}
	return nil
}

// sorted returns the chains, in the order of the names of their innermost limits.
func (c Calls) sorted() []*Chain {
	chains := slices.Collect(maps.Values(c))
	slices.SortFunc(chains, func(a, b *Chain) int { return strings.Compare(a.limits[0].Name, b.limits[0].Name) })
	return chains
}

// Names returns the names of the limits.
func (c Calls) Names() (names []string) {
	for innermost := range c {
		names = append(names, innermost.Name)
	}
	return names
}

// Admit reserves what the call of a target may use in the limits of the target and of its provider.
// The reply holds the reservation until the next call, or the end of the exchange. If the limits refuse
// the call, Admit returns why, with the time until they have room again if that is known.
func (c Calls) Admit(answer *reply.Reply, r *http.Request, t *catalog.Target, pricer meter.Pricer) *fault.Fault {
	ex, chain := answer.Exchange, c.Of(t)
	e, refused := chain.Expect(ex, &catalog.Model{Targets: []catalog.Target{*t}}, pricer)
	switch {
	case refused != nil && refused.Unpriced():
		refused.Add("; the budget is that of the upstream")
		return refused
	case refused != nil:
		return refused
	}
	decision := chain.decide(ex, r, e)
	switch {
	case decision.Err != nil:
		return fault.LimitsUnavailable(decision.Err)
	case decision.Reservation == nil:
		refused := faultOf(decision, e, fault.Upstream(ex.Request.View.Model))
		refused.RetryAfter = wholeSeconds(decision.RetryAfter)
		return refused
	}
	answer.HoldCall(decision.Reservation, chain.currency)
	return nil
}

// Of returns the limits of the calls of a target, nil if there are none.
func (c Calls) Of(t *catalog.Target) *Chain {
	if len(t.Limits) == 0 {
		return nil
	}
	return c[t.Limits[0]]
}

// Bound returns the highest possible cost of a request at the targets of a model whose calls have
// budgets, and whether one of these budgets refuses what exceeds it. The cost is zero without such a
// budget.
func (c Calls) Bound(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) (bound aigateway.Cost, hard bool) {
	if len(c) == 0 || m == nil {
		return bound, false
	}
	now := time.Now()
	for i := range m.Targets {
		t := &m.Targets[i]
		chain := c.Of(t)
		if chain == nil {
			continue
		}
		hard = hard || chain.hard
		if chain.currency == "" || bound.Currency != "" && bound.Currency != chain.currency {
			continue
		}
		nanos, _ := chain.boundAt(ex, *t, pricer, now, ex.Request.Operation == translate.Batch)
		if ex.Request.Operation == translate.Batch {
			nanos = ex.Objects.Call.Bound
		}
		bound = aigateway.Cost{Nanos: max(bound.Nanos, nanos), Currency: chain.currency}
	}
	return bound, hard
}

// callSpending implements aigateway.Spending for the limits of the calls of a target and its provider.
type callSpending struct {
	book     *backends.Book
	provider string
	upstream string                  // the provider's name of the model; empty for all
	reaches  func(model string) bool // whether its requests may ask the provider
	limits   func(model string) bool // whether they may ask the target
}

// Zone implements aigateway.Spending.
func (s *callSpending) Zone() *time.Location { return s.book.Zone() }

// Spent implements aigateway.Spending. What was reserved for requests that were killed counts at each
// provider that their model has: the ledger does not know which one was asked.
func (s *callSpending) Spent(ctx context.Context, l *aigateway.Limit, _ *aigateway.Key, since time.Time) (spent []aigateway.Spent, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := time.Now()
	q := period(l, since, now)
	q.By = append(q.By, accounting.ByProvider, accounting.ByModel)
	if l.Per == aigateway.PerTarget {
		q.By = append(q.By, accounting.ByUpstream)
	}
	sums, err := s.book.Usage(ctx, q)
	for i := range sums {
		if s.counts(l, &sums[i]) {
			spent = append(spent, spentOf(&sums[i], now))
		}
	}
	return spent, err
}

// counts reports whether a sum counts in a limit.
func (s *callSpending) counts(l *aigateway.Limit, sum *accounting.Usage) bool {
	isReserved := sum.Provider == ""
	isOfTarget := l.Per == aigateway.PerProvider || s.limits(sum.Model) && (s.upstream == "" || sum.Upstream == s.upstream || isReserved)
	return isOfTarget && (sum.Provider == s.provider || isReserved && s.reaches(sum.Model))
}
