package gateway

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limiting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
)

// limitsPath is the path of the admin API that shows the use of limits.
const limitsPath = "/ai_gateway/limits"

// statesPerPage is the number of states from which a page ends.
const statesPerPage = 500

// serveLimits answers with a page of the states of the limits of all sites. The query may
// have a user ("user"), the ID of a key ("key"), the name of a limit ("name"), and the value
// of next in the page before ("after").
func (a *App) serveLimits(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	page, err := limitReader{app: a}.Limits(r.Context(), aigateway.LimitQuery{
		User: query.Get("user"), Key: query.Get("key"), Limit: query.Get("name"), After: query.Get("after"), Most: statesPerPage,
	})
	if errors.Is(err, aigateway.ErrUnavailable) {
		return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
	}
	if err != nil {
		return err
	}
	return writeAdmin(w, map[string]any{"items": append([]aigateway.LimitState{}, page.States...), "next": page.Next})
}

// limitLevels returns the use of the limits per group and per gateway of all sites, as far
// as the counters know it.
func (a *App) limitLevels() (levels []metrics.LimitLevel) {
	var states limiting.States
	for _, site := range a.sites {
		// A scrape shows no limits while the counters do not answer, which is logged elsewhere.
		_ = site.resolved.limits.AddShared(a.ctx, &states)
	}
	for i := range states.List {
		s := &states.List[i]
		unit := 1.0
		if s.Rule == aigateway.MoneyBudget {
			unit = 1e9
		}
		levels = append(levels, metrics.LimitLevel{
			Limit: s.Limit, Per: string(s.Subject.Per), Rule: s.Rule.Word(),
			Used: float64(s.Used) / unit, Reserved: float64(s.Reserved) / unit, Left: float64(s.Left()) / unit,
		})
	}
	return levels
}
