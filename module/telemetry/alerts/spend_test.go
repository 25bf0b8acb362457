package alerts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

func TestTheTextOfAReport(t *testing.T) {
	report := data{
		"period": "weekly", "from": "2026-11-23T00:00:00+01:00", "to": "2026-11-30T00:00:00+01:00", "zone": "Europe/Berlin",
		"totals": []Sum{
			{Requests: 3}, // refused ones
			{Requests: 30, CostMicro: 12_345_000, Currency: "USD", Previous: new(int64(10_000_000))},
			{Requests: 1, CostMicro: 4200, Currency: "EUR", Floor: true, Previous: new(int64(0))},
		},
		"limit": []Sum{{Requests: 34, CostMicro: 12_345_000, Currency: "USD"}}, // no key names a limit
		"user":  []Sum{{Name: "ada@example.com", CostMicro: 9_000_000, Currency: "USD", Previous: new(int64(18_000_000))}, {CostMicro: 3_345_000, Currency: "USD"}},
		"key":   []Sum{{Name: "ci", CostMicro: 9_000_000, Currency: "USD"}, {Others: 12, CostMicro: 1_000_000, Currency: "USD"}},
		"model": []Sum{{Name: "<!channel>\nhello", Floor: true}, {Name: "[a](https://b.test)\u202e\u2028, ada 9.00 USD", CostMicro: 1e6, Currency: "USD"}, {Name: "local", Previous: new(int64(0))}},
	}
	assert.Equal(t, "Spend in the week from 2026-11-23 to 2026-11-29 (Europe/Berlin): "+
		"12.35 USD (+23 %) and at least 0.004200 EUR (new) for 34 requests. Changes are to the week before."+
		"\nBy user: ada@\u200bexample.com 9.00 USD (-50 %), (none) 3.35 USD."+
		"\nBy key: ci 9.00 USD, 12 others 1.00 USD."+
		"\nBy model: ‹!channel› hello an unknown amount, [a]\u200b(https:\u200b//b.test)  ‚ ada 9.00 USD 1.00 USD, local 0.", New("", events.SpendReport, time.Now(), report).Text)

	report["period"], report["to"] = "daily", "2026-11-24T00:00:00+01:00"
	assert.Contains(t, New("", events.SpendReport, time.Now(), report).Text, "Spend on 2026-11-23 (Europe/Berlin): ")
	_, until := New("", events.SpendReport, time.Now(), report).Mark()
	assert.Equal(t, time.Date(2027, 3, 3, 23, 0, 0, 0, time.UTC), until.UTC())
}

// A report needs nobody: it is not among the latest alerts.
func TestReportsAreNoLatestAlerts(t *testing.T) {
	before := len(Latest(time.Now()))
	events.Emit(events.SpendReport, data{"period": "daily"})
	assert.Len(t, Latest(time.Now()), before)
}
