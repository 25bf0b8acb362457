package limits

import (
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// showBudget sets the headers with the use of the budget that bounds a person whose program has signed in:
// of those that refuse requests, the one of which the largest share is spent, or the one that has refused
// this request. A budget without a time at which it begins anew has none, and neither has a request that
// was refused for another reason: the program would show its person a budget that has room.
func (c *Chain) showBudget(to *reply.Reply, r *http.Request, a *aigateway.Admission) {
	headers := to.Exchange.Format.Client.Quotas.Budget
	ended := a.Reservation == nil
	if c.currency == "" || headers == nil || !hasSignedIn(r) || ended && (a.Reached != aigateway.MoneyBudget || a.Left > 0) {
		return
	}
	budgets := states{wants: func(l *aigateway.Limit, _ aigateway.Subject) bool {
		return l.Budget.IsSet() && (!ended || l.Name == a.Limit.Name)
	}}
	if budgets.add(r.Context(), c, to.Exchange.Key) != nil {
		return // the counters do not answer, which is logged where they decide
	}
	i := aigateway.FullestBudget(budgets.list)
	if i < 0 || budgets.list[i].Renews == nil || ended && budgets.list[i].Share() < 1 { // running requests have the rest
		return
	}
	fullest := &budgets.list[i]
	to.SetHeaders(headers(format.BudgetUse{Share: fullest.Share(), Period: fullest.Period, Renews: *fullest.Renews, Ended: ended})...)
}

// hasSignedIn reports whether a request has the access token of a program that has signed in.
func hasSignedIn(r *http.Request) bool {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.HasPrefix(token, aigateway.AccessTokenPrefix)
}
