package limits

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// showBudget sets the headers with the use of the budget that bounds a person whose program has signed in.
// A request that was refused for another reason than a budget has none: the program would show its person a
// budget that has room. If the use of the budget that has refused is not shown, the headers state no more than
// that a budget has.
func (c *Chain) showBudget(answer *reply.Reply, r *http.Request, a *aigateway.Admission) {
	headers := answer.Exchange.Request.Format.Client.Quotas.Budget
	refused := a.Reservation == nil
	if c.currency == "" || headers == nil || !hasSignedIn(r) || refused && a.Reached != aigateway.MoneyBudget {
		return
	}
	if use, ok := useToShow(c, answer, r, a); ok {
		answer.SetHeaders(headers(use)...)
	} else if refused {
		answer.SetHeaders(headers(format.BudgetUse{Ended: true})...)
	}
}

// useToShow returns the use of a budget: of those that refuse requests, the one of which the largest share is
// spent, or the one that has refused this request, if nothing is left of it. A budget without a time at which
// it begins anew has none.
func useToShow(c *Chain, answer *reply.Reply, r *http.Request, a *aigateway.Admission) (use format.BudgetUse, ok bool) {
	ended := a.Reservation == nil
	if ended && a.Left > 0 {
		return use, false
	}
	budgets := states{wants: func(l *aigateway.Limit, _ aigateway.Subject) bool {
		return l.Budget.IsSet() && (!ended || l.Name == a.Limit.Name)
	}}
	if budgets.add(r.Context(), c, answer.Exchange.Key) != nil {
		return use, false // the counters do not answer, which is logged where they decide
	}
	i := aigateway.FullestBudget(budgets.list)
	if i < 0 || budgets.list[i].Renews == nil || ended && budgets.list[i].Share() < 1 { // running requests have the rest
		return use, false
	}
	fullest := &budgets.list[i]
	return format.BudgetUse{Share: fullest.Share(), Period: fullest.Period, Renews: *fullest.Renews, Ended: ended}, true
}

// hasSignedIn reports whether a request has the access token of a program that has signed in.
func hasSignedIn(r *http.Request) bool {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.HasPrefix(token, aigateway.AccessTokenPrefix)
}
