package aigateway

import (
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBudgetsAreAnAmountAndAPeriod(t *testing.T) {
	for text, want := range map[string]struct {
		Budget
		text string
	}{
		"50/30d":          {Budget{Micros: 50_000_000, Per: caddy.Duration(30 * 24 * time.Hour)}, "50 USD per 30d"},
		"0.50/day":        {Budget{Micros: 500_000, Calendar: Daily}, "0.5 USD per day"},
		"1000000/month":   {Budget{Micros: 1_000_000_000_000, Calendar: Monthly}, "1000000 USD per month"},
		"0.000001/total":  {Budget{Micros: 1, Calendar: Total}, "0.000001 USD in total"},
		"12.345678/week":  {Budget{Micros: 12_345_678, Calendar: Weekly}, "12.345678 USD per week"},
		"0000007.0/1h30m": {Budget{Micros: 7_000_000, Per: caddy.Duration(90 * time.Minute)}, "7 USD per 1h30m"},
		"1/1h":            {Budget{Micros: 1_000_000, Per: caddy.Duration(time.Hour)}, "1 USD per 1h"},
		"1/10m":           {Budget{Micros: 1_000_000, Per: caddy.Duration(10 * time.Minute)}, "1 USD per 10m"},
		"0/month":         {Budget{Calendar: Monthly}, "0 USD per month"},
		"1/90s":           {Budget{Micros: 1_000_000, Per: caddy.Duration(90 * time.Second)}, "1 USD per 1m30s"},
	} {
		got, err := ParseBudget(text)
		require.NoError(t, err, text)
		assert.Equal(t, want.Budget, got, text)
		assert.Equal(t, want.text, got.String())
		assert.Equal(t, 1000*got.Micros, got.Nanos())
		assert.True(t, got.IsSet(), text)
	}
	for _, text := range []string{
		"", "50", "/day", "50/", "0.0000001/day", "-1/day", "+1/day", "1e3/day", ".5/day", "5./day", "50/year", "50/30", "50/999ms", "50/367d",
		"1000001/day", "1000000.000001/day", "99999999/day", "50/day/day", "50 /day", "$50/day",
	} {
		_, err := ParseBudget(text)
		assert.ErrorContains(t, err, "50/month", text)
	}
	for _, wrong := range []Budget{{Micros: 1, Per: caddy.Duration(time.Hour), Calendar: Daily}, {Micros: 1, Calendar: "year"}, {Micros: 1}} {
		assert.Error(t, wrong.check(), "%+v", wrong)
	}
}

func TestPeriodsAreThoseOfTheirZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	date := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, berlin) }
	moment := time.Date(2026, 10, 24, 23, 30, 0, 0, time.UTC).In(berlin) // half past one on the 25th, a day of 25 hours
	for calendar, want := range map[Calendar][2]time.Time{
		Daily:   {date(10, 25), date(10, 26)},
		Weekly:  {date(10, 19), date(10, 26)},
		Monthly: {date(10, 1), date(11, 1)},
		Total:   {},
		"":      {},
	} {
		budget := Budget{Calendar: calendar}
		begin, end := budget.Period(moment)
		assert.Equal(t, want, [2]time.Time{begin, end}, calendar)
	}
	weekly := Budget{Calendar: Weekly}
	begin, _ := weekly.Period(date(10, 19))
	assert.Equal(t, date(10, 19), begin, "a week begins on Monday")
}

// The day before clocks skip midnight had ended an hour early, so that a budget of its last
// hour was in no period: Redis decided nothing until the day was over.
func TestPeriodsContainTheirTimeWhereClocksSkipMidnight(t *testing.T) {
	santiago, err := time.LoadLocation("America/Santiago")
	require.NoError(t, err)
	daily := Budget{Calendar: Daily}
	skipped := time.Date(2026, 9, 6, 4, 0, 0, 0, time.UTC) // 1:00 there
	_, end := daily.Period(skipped.Add(-time.Minute).In(santiago))
	assert.True(t, end.Equal(skipped), "%s", end)
	begin, end := daily.Period(skipped.Add(time.Minute).In(santiago))
	assert.True(t, begin.Equal(skipped), "%s", begin)
	assert.True(t, end.Equal(skipped.Add(23*time.Hour)), "%s", end)
}

func TestTheTighterQuotaIsShown(t *testing.T) {
	none, little, much := Quota{}, Quota{Limit: 100, Remaining: 1}, Quota{Limit: 10, Remaining: 9}
	assert.Equal(t, little, little.Tighter(much))
	assert.Equal(t, little, much.Tighter(little))
	assert.Equal(t, much, none.Tighter(much))
	assert.Equal(t, much, much.Tighter(none))
}
