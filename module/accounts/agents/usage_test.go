package agents

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// away is a reader of limits whose ledger cannot be read.
type away struct{ aigateway.LimitReader }

func (away) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{}, aigateway.ErrUnavailable
}

// The answer had no Retry-After, which all other answers of accounts with this error have.
func TestUsageThatCannotBeReadIsAskedForLater(t *testing.T) {
	p := signedIn(t, nil)
	p.people.Limits = away{}
	got := p.send("GET", usagePath, nil, http.Header{"Authorization": {"Bearer " + p.access}})
	assert.Equal(t, []any{http.StatusServiceUnavailable, "2"}, []any{got.Code, got.Header().Get("Retry-After")})
	assert.Contains(t, got.Body.String(), `"type":"api_error"`)
}

// states is a reader of limits with these states.
type states struct {
	aigateway.LimitReader
	list []aigateway.LimitState
}

func (s states) Limits(context.Context, aigateway.LimitQuery) (aigateway.LimitPage, error) {
	return aigateway.LimitPage{States: s.list}, nil
}

// A member saw what a team had spent, which members do not see elsewhere.
func TestTheAmountsOfATeamAreNotShown(t *testing.T) {
	budget := func(per aigateway.Scope, used int64) aigateway.LimitState {
		return aigateway.LimitState{Rule: "budget", Per: per, Period: "month", Amount: 100e6, Used: used, Currency: "USD"}
	}
	const row = `{"kind":"spend","group":"monthly","percent":%d,"resets_at":null,"severity":%q,"is_active":%t}`
	own, amounts := budget(aigateway.PerUser, 50e6), `"extra_usage":{"is_enabled":true,"monthly_limit":10000,"used_credits":5000,"utilization":50,"currency":"USD"},`
	p := signedIn(t, nil)
	for _, c := range []struct {
		team             int64 // spent
		amounts, of, own string
	}{
		{20e6, amounts, fmt.Sprintf(row, 20, "normal", false), fmt.Sprintf(row, 50, "normal", true)},
		{80e6, "", fmt.Sprintf(row, 80, "warning", true), fmt.Sprintf(row, 50, "normal", false)},
	} {
		p.people.Limits = states{list: []aigateway.LimitState{budget(aigateway.PerGroup, c.team), own}}
		got := p.send("GET", usagePath, nil, http.Header{"Authorization": {"Bearer " + p.access}})
		assert.JSONEq(t, `{`+c.amounts+`"limits":[`+c.of+`,`+c.own+`]}`, got.Body.String())
	}
}
