package limits

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// exceededHeader is the header with the name of a limit whose soft budget is exceeded.
const exceededHeader = "X-Gateway-Budget-Exceeded"

// Admit reserves the highest possible cost and the tokens of a request in the limits, and sets the
// headers that show the remaining quotas. Either the reservation or the fault is nil.
//
// A model that falls back on budgets is admitted without the targets for which a budget lacks the
// money, the most expensive first; the exchange has them as passed over. Where the limits have room for one
// call only, a model that hedges is admitted without the second one. m is nil for an exchange that uses no
// model.
func (c *Chain) Admit(answer *reply.Reply, r *http.Request, m *catalog.Model, pricer meter.Pricer) (a Admitted, refused *fault.Fault) {
	for a.Model = m; ; {
		if a.Estimate, refused = c.Expect(answer.Exchange, a.Model, pricer); refused == nil && c.Empty() {
			return a, nil
		}
		var decision *aigateway.Admission // nil without a price
		if refused == nil {
			decision = c.decide(answer.Exchange, r, a.Estimate)
		}
		if needsTwo(decision) && a.Model != nil && a.Model.Hedges(answer.Exchange) {
			a.Model = a.Model.Unhedged()
			continue
		}
		if decision == nil || decision.Reservation == nil && decision.Reached == aigateway.MoneyBudget {
			if cheaper := c.cheaper(answer.Exchange, a.Model, pricer); cheaper != nil {
				a.Model = cheaper
				continue
			}
		}
		switch {
		case decision == nil:
			return a, refused
		case decision.Err != nil:
			return a, fault.LimitsUnavailable(decision.Err)
		}
		show(answer, decision)
		c.showBudget(answer, r, decision)
		if a.Reservation = decision.Reservation; a.Reservation == nil {
			refused = refuse(answer, decision, a.Estimate, len(c.models[decision.Limit.Name]) > 0)
		}
		return a, refused
	}
}

// needsTwo reports whether a refusal is by what the second call of a hedged request makes twice as much: its
// tokens and its cost. The decision is nil without a price.
func needsTwo(decision *aigateway.Admission) bool {
	return decision != nil && (decision.Reached == aigateway.TokenRate || decision.Reached == aigateway.MoneyBudget)
}

// decide returns the decision of the limits about a request, and reports it.
func (c *Chain) decide(ex *exchange.Exchange, r *http.Request, e meter.Estimate) *aigateway.Admission {
	decision := c.limiter.Admit(r.Context(), aigateway.Demand{Key: ex.Key, Use: use(e), Spending: c.spending})
	if decision.Err == nil {
		c.report(&decision)
	}
	return &decision
}

// Admitted is what the limits have admitted.
type Admitted struct {
	Model       *catalog.Model // with the targets that may be asked
	Estimate    meter.Estimate
	Reservation aigateway.Reservation // nil without limits
}

// cheaper returns a model without its most expensive targets for a request, of which those without a
// price are the first. It returns nil if the model does not fall back on budgets, all targets cost the
// same, no target can be admitted, or an object that the request names determines the target.
func (c *Chain) cheaper(ex *exchange.Exchange, m *catalog.Model, pricer meter.Pricer) *catalog.Model {
	if m == nil || !m.Fallback.OnBudget() || c.openEnded(ex, m) != nil || len(ex.Request.View.Beyond.ObjectIDs()) > 0 {
		return nil
	}
	now := time.Now()
	costAt := func(t *catalog.Target) int64 {
		cost, unpriced := c.boundAt(ex, *t, pricer, now, false)
		if unpriced != nil && c.priced {
			return math.MaxInt64
		}
		return cost
	}
	least, most := int64(math.MaxInt64), int64(0)
	for i := range m.Targets {
		cost := costAt(&m.Targets[i])
		least, most = min(least, cost), max(most, cost)
	}
	if least == most {
		return nil
	}
	for i := range m.Targets {
		if t := &m.Targets[i]; costAt(t) == most {
			ex.Course.PassOver(t.Provider.Name, t.UpstreamModel(ex.Request.View.Model), exchange.Costly)
		}
	}
	why := exchange.ByBudget
	if m.Order.Criterion == catalog.OrderByCost { // what is left would be first in any case
		why = exchange.ByCost
	}
	return m.Without(why, func(t *catalog.Target) bool { return costAt(t) == most })
}

// refuse returns the fault of a request over a limit, with the time after which the limit admits requests
// again. someModels reports whether the limit counts some models only.
func refuse(answer *reply.Reply, a *aigateway.Admission, e meter.Estimate, someModels bool) *fault.Fault {
	whose := whoseOf(a.Limit, answer.Exchange.Key)
	if model := answer.Exchange.Request.View.Model; model != "" && someModels {
		whose += fault.Whose(" for model '" + model + "'")
	}
	refused := faultOf(a, e, whose)
	if a.RetryAfter > 0 {
		refused.RetryAfter = wholeSeconds(a.RetryAfter)
	}
	return refused
}

// faultOf returns the fault of a request over a limit.
func faultOf(a *aigateway.Admission, e meter.Estimate, whose fault.Whose) *fault.Fault {
	switch {
	case a.Reached == aigateway.MoneyBudget && a.TooLarge:
		return fault.BudgetTooSmall(e.Cost.String(), a.Limit.Budget.String(), whose, e.Assumed)
	case a.Reached == aigateway.MoneyBudget && a.Left > 0:
		return fault.BudgetTooLow(e.Cost.String(), a.Limit.Budget.String(), whose, e.Assumed, again(a.RetryAfter))
	case a.Reached == aigateway.MoneyBudget:
		return fault.BudgetExhausted(a.Limit.Budget.String(), whose, again(a.RetryAfter))
	case a.TooLarge:
		return fault.RequestTooCostly(e.Reserved, a.Limit.Tokens.Most, e.Assumed, whose)
	}
	return fault.LimitReached(string(a.Reached), whose)
}

// whoseOf returns the subject of a limit for a key, in the words of fault messages.
func whoseOf(l *aigateway.Limit, key *aigateway.Key) fault.Whose {
	subject := l.Subject(key)
	switch {
	case l.IsOwn() && subject.Per == aigateway.PerKey:
		return "this key (its own rule)"
	case l.IsOwn():
		return "this user (their own rule)"
	}
	if tag, ok := subject.Per.Tag(); ok {
		return fault.Whose("the tag " + tag + "=" + subject.Name)
	}
	switch subject.Per {
	case aigateway.PerCustomer:
		return "this customer"
	case aigateway.PerGateway:
		return "this gateway"
	case aigateway.PerGroup:
		return fault.Whose("the group '" + l.Name + "'")
	case aigateway.PerUser:
		return "this user"
	}
	return "this key"
}

// again returns the time at which a budget admits requests again, "" if it is unknown.
func again(wait time.Duration) string {
	if wait == 0 {
		return ""
	}
	return time.Now().Add(wait).UTC().Format("2006-01-02 15:04 UTC")
}

// wholeSeconds returns a duration in seconds, rounded up, so that a client that waits for this time does
// not come too early.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// show sets the headers that show the remaining quotas. All answers have them, errors
// included.
func show(answer *reply.Reply, a *aigateway.Admission) {
	headers, now := make([]string, 0, 2*7), time.Now() // the exceeded limit, and three of each quota
	if a.Exceeded != nil {
		headers = append(headers, exceededHeader, a.Exceeded.Name)
	}
	quotas := &answer.Exchange.Request.Format.Client.Quotas
	for _, group := range [...]struct {
		names *format.QuotaHeaders
		quota aigateway.Quota
	}{{&quotas.Requests, a.Requests}, {&quotas.Tokens, a.Tokens}} {
		if group.quota.Limit == 0 {
			continue
		}
		headers = append(headers,
			group.names.Limit, strconv.FormatInt(group.quota.Limit, 10),
			group.names.Remaining, strconv.FormatInt(group.quota.Remaining, 10),
			group.names.Reset, quotas.Reset(now, group.quota.Reset))
	}
	answer.SetHeaders(headers...)
}
