package billing

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

func decode(t *testing.T, body []byte) (answer struct {
	Hard  float64 `json:"hard_limit_usd"`
	Total float64 `json:"total_usage"`
}) {
	t.Helper()
	require.NoError(t, json.Unmarshal(body, &answer))
	return answer
}

// L063: clients show hard_limit_usd minus total_usage/100 as the remainder. It would be
// negative if the two answers covered different periods.
func TestL063LimitMinusUsageIsWhatIsLeft(t *testing.T) {
	left := int64(6_660_000_000)
	a := Account{Key: &aigateway.Key{ID: "laptop"}, Used: 3_340_000_000, Left: &left}
	assert.InDelta(t, 6.66, decode(t, a.Subscription()).Hard-decode(t, a.Usage()).Total/100, 1e-9)
	assert.JSONEq(t, `{"object":"billing_subscription","has_payment_method":true,"soft_limit_usd":10,"hard_limit_usd":10,"system_hard_limit_usd":10,"access_until":0}`,
		string(a.Subscription()))
}

func TestAKeyWithoutABudgetIsUnlimited(t *testing.T) {
	a := Account{Key: &aigateway.Key{ID: "laptop", Models: []aigateway.Pattern{"gpt-*"}, Expires: time.Unix(1_800_000_000, 0)}, Used: 1_000_000_001}
	assert.JSONEq(t, `{"code":true,"message":"ok","data":{"object":"token_usage","name":"laptop","total_granted":500001,"total_used":500001,
		"total_available":0,"unlimited_quota":true,"model_limits":{"gpt-*":true},"model_limits_enabled":true,"expires_at":1800000000}}`, string(a.TokenUsage()))
	assert.EqualValues(t, unlimitedUSD, decode(t, a.Subscription()).Hard)
}

func TestDailyCostsAreByModelInCents(t *testing.T) {
	day := func(n int, model, currency string, nanos int64) accounting.Usage {
		return accounting.Usage{At: time.Unix(int64(n)*86400, 0), Model: model, Cost: aigateway.Cost{Nanos: nanos, Currency: currency}}
	}
	a := Account{Key: new(aigateway.Key), Used: 35_000_000}
	assert.JSONEq(t, `{"object":"list","total_usage":3.5,"daily_costs":[]}`, string(a.Usage()))
	a.Days = []accounting.Usage{day(1, "a", "USD", 10_000_000), day(1, "b", "USD", 20_000_000), day(1, "c", "EUR", 1), day(2, "a", "USD", 5_000_000)}
	assert.JSONEq(t, `{"object":"list","total_usage":3.5,"daily_costs":[
		{"timestamp":86400,"line_items":[{"name":"a","cost":1},{"name":"b","cost":2}]},
		{"timestamp":172800,"line_items":[{"name":"a","cost":0.5}]}]}`, string(a.Usage()))
}

func TestDaysAreBounded(t *testing.T) {
	first, last, err := Days("2026-11-01", "2026-12-01", time.UTC)
	assert.Nil(t, err)
	assert.Equal(t, 30*24*time.Hour, last.Sub(first))
	for wrong, message := range map[[2]string]string{
		{"yesterday", "2026-01-01"}:  "start_date: must be a date such as 2026-01-31",
		{"", "2026-01-01"}:           "start_date: must be a date such as 2026-01-31",
		{"2026-01-01", ""}:           "end_date: must be a date such as 2026-01-31",
		{"2026-12-01", "2026-12-01"}: "end_date: must be behind start_date",
		{"2026-01-01", "2027-01-03"}: "end_date: must be at most 366 days behind start_date",
	} {
		_, _, err := Days(wrong[0], wrong[1], time.UTC)
		assert.EqualError(t, err, message)
	}
}
