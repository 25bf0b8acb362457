package limits

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
)

// unpricedWords are those of Lacks for a target that a budget needs a price of.
const unpricedWords = "its price is unknown, and a budget needs it"

// Lacks returns in words which of the limits has less left for a key than the request of ex may use at a
// target; "" if all have room. An exchange without a body is an example of which nothing is known: anything
// left is enough for it, and nothing for what is free. budgets selects budgets alone. Lacks reserves nothing.
func (c *Chain) Lacks(ctx context.Context, key *aigateway.Key, ex *exchange.Exchange, t *catalog.Target, pricer meter.Pricer, budgets bool) (string, error) {
	if c == nil || c.Empty() {
		return "", nil
	}
	use, priced := c.useAt(ex, t, pricer)
	if !priced {
		return unpricedWords, nil
	}
	all := states{ledger: true}
	if err := all.add(ctx, c, key); err != nil {
		return "", err
	}
	for i := range all.list {
		s := &all.list[i]
		isBudget := s.Rule == aigateway.MoneyBudget.Word()
		needs := int64(1)
		switch {
		case isBudget:
			needs = (use.Nanos + nanosPerMicro - 1) / nanosPerMicro
		case s.Rule == aigateway.TokenRate.Word():
			needs = use.Tokens
		}
		if s.Left < needs && !s.Soft && (isBudget || !budgets) {
			return roomOf(s), nil
		}
	}
	return "", nil
}

// useAt returns what a request may use at a target. priced is false if a budget needs its price, which is
// unknown.
func (c *Chain) useAt(ex *exchange.Exchange, t *catalog.Target, pricer meter.Pricer) (u aigateway.Use, priced bool) {
	if len(ex.Body) > 0 {
		e, refused := c.Expect(ex, &catalog.Model{Targets: []catalog.Target{*t}}, pricer)
		return use(e), refused == nil
	}
	u = aigateway.Use{Tokens: 1}
	price := pricer.Price(ex.View.Model, t.Provider.Name, t.UpstreamModel(ex.View.Model), time.Now())
	if price == nil || price.Currency != c.currency {
		return u, !c.priced
	}
	cost, _ := price.Cost(ExampleCharge(t))
	u.Nanos = min(1, cost.Nanos)
	return u, true
}

// roomOf returns what is left of a rule in words.
func roomOf(s *aigateway.LimitState) string {
	amount := func(n int64) string {
		if s.Currency == "" {
			return strconv.FormatInt(n, 10)
		}
		return aigateway.Cost{Nanos: n * nanosPerMicro, Currency: s.Currency}.String()
	}
	text := fmt.Sprintf("%s of the limit %s: %s left of %s", s.Rule, s.Limit, amount(s.Left), amount(s.Amount))
	if s.Period != "" {
		text += " per " + s.Period
	}
	return text
}
