package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/billing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// billingEndpoints are the endpoints with the usage of a key, for clients that have only an
// API key. A site without a ledger does not have them.
var billingEndpoints = map[string]endpoint{
	"/api/usage/token":                   {method: http.MethodGet, serve: (*Handler).serveTokenUsage},
	"/dashboard/billing/subscription":    {method: http.MethodGet, serve: (*Handler).serveSubscription},
	"/v1/dashboard/billing/subscription": {method: http.MethodGet, serve: (*Handler).serveSubscription},
	"/dashboard/billing/usage":           {method: http.MethodGet, serve: (*Handler).serveBillingUsage},
	"/v1/dashboard/billing/usage":        {method: http.MethodGet, serve: (*Handler).serveBillingUsage},
}

// billingEndpoint returns the endpoint for a request about the usage of a key. ok is false
// for other requests, and without a ledger.
func (h *Handler) billingEndpoint(r *http.Request) (e endpoint, ok bool) {
	if h.users.Book == nil || r.URL.RawPath != "" {
		return e, false
	}
	e, ok = billingEndpoints[r.URL.Path]
	return e, ok
}

func (h *Handler) serveTokenUsage(to *reply.Reply, r *http.Request) *fault.Fault {
	return h.writeBilling(to, r, func(a *billing.Account) []byte { return a.TokenUsage() })
}

func (h *Handler) serveSubscription(to *reply.Reply, r *http.Request) *fault.Fault {
	return h.writeBilling(to, r, func(a *billing.Account) []byte { return a.Subscription() })
}

func (h *Handler) serveBillingUsage(to *reply.Reply, r *http.Request) *fault.Fault {
	days, err := h.dailyUsage(to.Exchange.Key, r)
	if err != nil {
		return usageFault(err)
	}
	return h.writeBilling(to, r, func(a *billing.Account) []byte { return a.Usage(days) })
}

// usageFault returns the fault of usage that was not read.
func usageFault(err error) *fault.Fault {
	if errors.Is(err, aigateway.ErrManySums) {
		return fault.UsageTooLong()
	}
	if wrong := (*billing.PeriodError)(nil); errors.As(err, &wrong) {
		return fault.InvalidField(wrong.Param, wrong.What)
	}
	return fault.LedgerUnreadable(err)
}

// writeBilling answers with a shape of the account of the key.
func (h *Handler) writeBilling(to *reply.Reply, r *http.Request, shape func(*billing.Account) []byte) *fault.Fault {
	key := to.Exchange.Key
	sums, err := h.usageOf(r.Context(), key, aigateway.UsageQuery{To: time.Now().Add(time.Hour)})
	if err != nil {
		return fault.LedgerUnreadable(err)
	}
	account := billing.Account{Key: key, Used: billing.Spent(sums)}
	if limits := h.resolved.limits.Of(key); limits != nil {
		if account.Left, err = limits.Left(r.Context(), key, billing.Currency); err != nil {
			return fault.LedgerUnreadable(err)
		}
	}
	to.WriteJSON(shape(&account))
	return nil
}

// dailyUsage returns the sums by day and model that a request asks for, nil if it asks
// for none.
func (h *Handler) dailyUsage(key *aigateway.Key, r *http.Request) ([]aigateway.Usage, error) {
	zone, err := h.users.Store.(aigateway.LedgerReader).Location(r.Context())
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	start, end := query.Get("start_date"), query.Get("end_date")
	if start == "" && end == "" {
		return nil, nil
	}
	from, to, wrong := billing.Days(start, end, zone)
	if wrong != nil {
		return nil, wrong
	}
	return h.usageOf(r.Context(), key, aigateway.UsageQuery{
		From: from, To: to, By: []aigateway.Dimension{aigateway.ByDay, aigateway.ByModel},
	})
}

// usageOf returns sums of the costs of one key.
func (h *Handler) usageOf(ctx context.Context, key *aigateway.Key, q aigateway.UsageQuery) ([]aigateway.Usage, error) {
	q.Key, q.Currency = key.ID, billing.Currency
	if q.From.IsZero() {
		q.From = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return h.users.Store.(aigateway.LedgerReader).Usage(ctx, q)
}
