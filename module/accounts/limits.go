package accounts

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The number of states from which a page of limits ends.
const (
	usualStates   = 100
	largestStates = 500
)

// limitStates answers GET /api/limits. Users see the limits of their keys and their own,
// but not those of groups and of the gateway. Administrators see all.
func (a *Accounts) limitStates(c *call) (any, error) {
	if a.limits == nil {
		return nil, refuse(http.StatusNotFound, "there are no limits here")
	}
	values := c.URL.Query()
	most, err := c.queryNumber(usualStates, "limit")
	if err != nil {
		return nil, err
	}
	q := aigateway.LimitQuery{
		User: values.Get("user"), Key: values.Get("key"), Limit: values.Get("name"), After: values.Get("after"),
		Most: min(max(most, 1), largestStates),
	}
	if c.user.Role < aigateway.RoleAdmin {
		if q.User != "" && q.User != c.user.Name {
			return nil, refuse(http.StatusForbidden, "only administrators may see the limits of others")
		}
		q.User, q.Own = c.user.Name, true
	}
	page, err := a.limits.Limits(c.Context(), q)
	if err != nil {
		return nil, err
	}
	return listPage[aigateway.LimitState]{append([]aigateway.LimitState{}, page.States...), page.Next}, nil
}
