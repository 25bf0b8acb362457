package agents

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// usageView is what Claude Code reads of budgets. Amounts are in hundredths of the currency.
type usageView struct {
	Spent  *spentView   `json:"extra_usage,omitempty"`
	Limits []budgetView `json:"limits"`
}

// spentView is the use of the budget of which the largest share is spent, whatever its period; of a person
// without a budget, what was spent in the month, the day and the week. There is none if that budget is the
// one of a group, of which Claude Code then shows the share alone: its amounts are those of others.
type spentView struct {
	Enabled  bool     `json:"is_enabled"`
	Amount   *float64 `json:"monthly_limit"`
	Used     float64  `json:"used_credits"`
	Percent  *float64 `json:"utilization"`
	Currency string   `json:"currency"`
	Day      *sumView `json:"daily,omitempty"`
	Week     *sumView `json:"weekly,omitempty"`
}

// sumView is what was spent in a period without a budget.
type sumView struct {
	Amount  *float64 `json:"limit"` // null
	Used    float64  `json:"used_credits"`
	Percent *float64 `json:"utilization"` // null
}

// budgetView is the use of one budget.
type budgetView struct {
	Kind     string     `json:"kind"`
	Group    string     `json:"group"`
	Percent  float64    `json:"percent"`
	Renews   *time.Time `json:"resets_at"`
	Severity string     `json:"severity"`
	Active   bool       `json:"is_active"`
}

// usage answers GET /api/oauth/usage with the budgets that bound the key of the request, or with what its
// person has spent if there are none.
func (a *Agents) usage(w http.ResponseWriter, c *call.Call) {
	key, err := a.key(c)
	var view *usageView
	if err == nil {
		view, err = a.usageOf(c.Context(), key)
	}
	if err != nil {
		a.refuseKey(w, err)
		return
	}
	answer.WriteJSON(w, view)
}

// mostStates is the number of states that are read of a key: more than it has limits.
const mostStates = 500

func (a *Agents) usageOf(ctx context.Context, key *aigateway.Key) (*usageView, error) {
	var page aigateway.LimitPage
	var err error
	if a.people.Limits != nil {
		page, err = a.people.Limits.Limits(ctx, aigateway.LimitQuery{Key: key.ID, Most: mostStates})
	}
	if err != nil {
		return nil, err
	}
	view, fullest := &usageView{Limits: []budgetView{}}, aigateway.FullestBudget(page.States)
	if fullest < 0 {
		view.Spent, err = a.spent(ctx, key.Owner)
		return view, err
	}
	for i := range page.States {
		s := &page.States[i]
		if !s.BoundsPerson() {
			continue
		}
		percent := percentOf(s)
		renews := s.Renews
		if renews != nil {
			renews = new(renews.UTC())
		}
		view.Limits = append(view.Limits, budgetView{"spend", groupOf(s.Period), percent, renews, severityOf(percent), i == fullest})
		if i == fullest && s.Per != aigateway.PerGroup {
			amount := hundredths(s.Amount*nanosPerMicro, s.Currency)
			view.Spent = &spentView{Enabled: true, Amount: &amount, Used: hundredths(s.Used*nanosPerMicro, s.Currency), Percent: &percent, Currency: s.Currency}
		}
	}
	return view, nil
}

const nanosPerMicro = 1000

// percentOf returns the used share in whole percents: at most 99 while something is left.
func percentOf(s *aigateway.LimitState) float64 {
	percent := math.Round(s.Share() * 100)
	if s.Used < s.Amount {
		percent = min(percent, 99)
	}
	return percent
}

func severityOf(percent float64) string {
	switch {
	case percent > 95:
		return "critical"
	case percent > 75:
		return "warning"
	}
	return "normal"
}

// groupOf returns the name of Claude Code for a period. It shows those of the calendar alone.
func groupOf(period string) string {
	switch period {
	case "day":
		return "daily"
	case "week":
		return "weekly"
	case "month":
		return "monthly"
	}
	return period
}

// undivided are the currencies whose amounts Claude Code does not divide by 100.
var undivided = map[string]bool{"JPY": true, "KRW": true, "VND": true}

// hundredths returns nanos of a currency as Claude Code reads amounts.
func hundredths(nanos int64, currency string) float64 {
	if undivided[currency] {
		return float64(nanos) / 1e9
	}
	return float64(nanos) / 1e7
}

// spent returns what a user has spent in this month, day and week of UTC, in the currency with the highest
// cost of the month; nil if the store has no ledger.
func (a *Agents) spent(ctx context.Context, user string) (*spentView, error) {
	reader, ok := a.people.Store.(accounting.LedgerReader)
	if !ok {
		return nil, nil
	}
	now := a.clock().UTC()
	query := accounting.UsageQuery{
		To: now.Truncate(time.Hour).Add(time.Hour), Only: map[accounting.Dimension]string{accounting.ByUser: user},
	}
	var nanos [3]int64
	for i, calendar := range [...]aigateway.Calendar{aigateway.Monthly, aigateway.Daily, aigateway.Weekly} {
		query.From, _ = (&aigateway.Budget{Calendar: calendar}).Period(now)
		sums, err := reader.Usage(ctx, query)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			query.Currency = mostSpent(sums)
		}
		for j := range sums {
			if sums[j].Cost.Currency == query.Currency {
				nanos[i] += sums[j].Cost.Nanos
			}
		}
	}
	spent := func(i int) float64 { return hundredths(nanos[i], query.Currency) }
	return &spentView{Enabled: true, Used: spent(0), Currency: query.Currency, Day: &sumView{Used: spent(1)}, Week: &sumView{Used: spent(2)}}, nil
}

// mostSpent returns the currency of the highest cost, the usual one without any.
func mostSpent(sums []accounting.Usage) string {
	most := accounting.Usage{Cost: aigateway.Cost{Currency: aigateway.DefaultCurrency}}
	for _, sum := range sums {
		if sum.Cost.Nanos > most.Cost.Nanos {
			most = sum
		}
	}
	return most.Cost.Currency
}
