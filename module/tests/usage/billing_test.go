package usage_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// bill reads a shape of what a key has used.
func bill(t *testing.T, s *site.Site, path, key string) (answer struct {
	Hard  float64 `json:"hard_limit_usd"`
	Total float64 `json:"total_usage"`
	Days  []struct {
		Items []struct {
			Name string
			Cost float64
		} `json:"line_items"`
	} `json:"daily_costs"`
	Data struct {
		Name      string
		Used      int64 `json:"total_used"`
		Left      int64 `json:"total_available"`
		Unlimited bool  `json:"unlimited_quota"`
	}
}) {
	t.Helper()
	response := s.Call(http.MethodGet, s.URL("site", path), "", "Authorization", "Bearer "+key)
	require.Equal(t, http.StatusOK, response.Status, response.Body)
	require.NoError(t, json.Unmarshal([]byte(response.Body), &answer))
	return answer
}

// Tools that show what is left of a key ask with the key alone, and got a 404.
func TestClientsReadWhatTheirKeyHasUsed(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "price m input 30 output 30"), "key alice {env.KEY_ALICE}")...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	micro := settled(t, s, "key", 1)[0].Cost
	now := time.Now()
	period := "start_date=" + now.AddDate(0, -1, 0).Format(time.DateOnly) + "&end_date=" + now.AddDate(0, 1, 0).Format(time.DateOnly)
	for _, base := range []string{"", "/v1"} {
		usage := bill(t, s, base+"/dashboard/billing/usage?"+period, site.ClientKey)
		assert.InDelta(t, float64(micro)/10_000, usage.Total, 1e-9, "cents")
		require.Len(t, usage.Days, 1)
		assert.Equal(t, "m", usage.Days[0].Items[0].Name)
		assert.Equal(t, usage.Total, usage.Days[0].Items[0].Cost)
		assert.EqualValues(t, 100_000_000, bill(t, s, base+"/dashboard/billing/subscription", site.ClientKey).Hard)
	}
	assert.Empty(t, bill(t, s, "/dashboard/billing/usage", site.ClientKey).Days, "no dates, no days")
	// An empty list hid wrong dates: it means that nothing was used.
	for _, wrong := range []string{"start_date=yesterday", "end_date=2026-01-02", "start_date=2026-01-01&end_date=2027-01-03"} {
		answer := s.Call(http.MethodGet, s.URL("site", "/dashboard/billing/usage?"+wrong), "", "Authorization", "Bearer "+site.ClientKey)
		assert.Equal(t, http.StatusBadRequest, answer.Status, wrong)
		assert.Contains(t, answer.Failure(t).Message, "_date: must be", wrong)
	}
	token := bill(t, s, "/api/usage/token", site.ClientKey).Data
	assert.Equal(t, "client", token.Name)
	assert.EqualValues(t, micro/2, token.Used)
	assert.Zero(t, bill(t, s, "/dashboard/billing/usage", site.AliceKey).Total, "of one's own key alone")
	for _, path := range []string{"/api/usage/token", "/dashboard/billing/usage"} {
		assert.Eventually(t, func() bool { // on a busy machine, the store may not have been read for a while
			return s.Call(http.MethodGet, s.URL("site", path), "", "Authorization", "Bearer sk-nobody-has-this-key").Status == http.StatusUnauthorized
		}, site.Patience, site.PollEvery)
	}
}

// Keys with a budget had the limit of keys without one, so that clients showed their
// users 100000000 USD. The tightest budget of the period counts, a soft one does not. The
// remainder of a budget of the whole gateway showed each key what all others spend.
func TestClientsReadWhatABudgetLeaves(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "price m input 30 output 30"), "key alice {env.KEY_ALICE} {\nlimit soft\n}",
		"limit small {\nbudget 10/30d\nwithin wide\n}", "limit wide {\nper group\nbudget 500/month\n}",
		"limit soft {\nper user\nbudget 1/total soft\nwithin small\n}", "limit all {\nper gateway\nbudget 5/total\n}")...)
	alice := []string{"Authorization", "Bearer " + site.AliceKey}
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), alice...).Status)
	micro := settled(t, s, "key", 1)[0].Cost
	assert.InDelta(t, 10, bill(t, s, "/dashboard/billing/subscription", site.AliceKey).Hard, 1e-9, "what was used, and what is left")
	token := bill(t, s, "/api/usage/token", site.AliceKey).Data
	assert.False(t, token.Unlimited)
	assert.InDelta(t, 10*500_000-micro/2, token.Left, 1)
	assert.True(t, bill(t, s, "/api/usage/token", site.ClientKey).Data.Unlimited)
}
