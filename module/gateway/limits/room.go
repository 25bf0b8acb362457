package limits

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Lacks returns in words which of the limits has less left for a key than the request of ex may use at a
// target; "" if all have room. An exchange without a body is an example of which nothing is known: anything
// left is enough for it, and nothing for what is free. budgets selects budgets alone. Lacks reserves nothing.
func (c *Chain) Lacks(ctx context.Context, key *aigateway.Key, ex *exchange.Exchange, t *catalog.Target, pricer meter.Pricer, budgets bool) (string, error) {
	if c == nil || c.Empty() {
		return "", nil
	}
	use, refused := c.useAt(ex, t, pricer)
	if refused != nil {
		return inWords(refused), nil
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

// Refuses returns in words why the limits refuse the requests of ex for a model, whatever is left of them; ""
// if they do not: a budget needs the price of a target. An exchange without a body is an example.
func (c *Chain) Refuses(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) string {
	if c == nil || c.Empty() {
		return ""
	}
	var first *fault.Fault
	for i := range m.Targets {
		_, refused := c.useAt(ex, &m.Targets[i], pricer)
		if refused == nil && m.Fallback.OnBudget() {
			return "" // the others are passed over
		}
		first = cmp.Or(first, refused)
	}
	return inWords(first)
}

// inWords returns a refusal as a text for operators, "" for none.
func inWords(refused *fault.Fault) string {
	if refused == nil {
		return ""
	}
	return strings.TrimPrefix(refused.Message, "model: ")
}

// useAt returns what a request may use at a target. The fault refuses a request whose cost has no bound.
func (c *Chain) useAt(ex *exchange.Exchange, t *catalog.Target, pricer meter.Pricer) (u aigateway.Use, refused *fault.Fault) {
	if len(ex.Request.Body) > 0 {
		e, refused := c.Expect(ex, &catalog.Model{Targets: []catalog.Target{*t}}, pricer)
		return use(e), refused
	}
	u = aigateway.Use{Tokens: 1}
	upstream := t.UpstreamModel(ex.Request.View.Model)
	price := pricer.Price(ex.Request.View.Model, t.Provider.Name, upstream, time.Now())
	if unpriced := c.incomparable(ex.Request.View.Model, t.Provider.Name+"/"+upstream, price); unpriced == nil {
		cost, _ := price.Cost(ExampleCharge(t))
		u.Nanos = min(1, cost.Nanos)
	} else if c.priced {
		return u, unpriced
	}
	return u, nil
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
