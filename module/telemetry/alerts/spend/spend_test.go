package spend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
)

// call is a call of a provider that a ledger contains.
type call struct {
	moment  time.Time
	user    string
	dollars int64
}

// ledger is a ledger with calls of users.
type ledger struct {
	zone  *time.Location
	calls []call
	back  time.Time // until then, it cannot be read
}

func (l *ledger) problem() error {
	if time.Now().Before(l.back) {
		return errors.New("away")
	}
	return nil
}

func (l *ledger) Location(context.Context) (*time.Location, error) { return l.zone, l.problem() }

func (l *ledger) Usage(_ context.Context, q accounting.UsageQuery) (sums []accounting.Usage, err error) {
	index := make(map[accounting.Usage]int)
	for _, c := range l.calls {
		if c.moment.Before(q.From) || !c.moment.Before(q.To) {
			continue
		}
		var of accounting.Usage
		switch {
		case slices.Equal(q.By, []accounting.Dimension{accounting.ByDay}):
			year, month, day := c.moment.In(l.zone).Date()
			of.At = aigateway.DayBegin(year, month, day, l.zone)
		case slices.Equal(q.By, []accounting.Dimension{accounting.ByUser}):
			of.User = c.user
		}
		i, known := index[of]
		if !known {
			i = len(sums)
			index[of] = i
			sums = append(sums, of)
		}
		sums[i].Requests++
		sums[i].Cost.Nanos += c.dollars * 1e9
		if c.user != "refused" {
			sums[i].Calls++
			sums[i].Cost.Currency = "USD"
		}
	}
	return sums, l.problem()
}

// reports runs a reporter for a time, and returns what it reported: the time, the period, its begin
// and its costs.
func reports(t *testing.T, l *ledger, logger *zap.Logger, runs time.Duration) (lines []string) {
	t.Helper()
	r := &Reporter{Ledger: l, Logger: logger, emit: func(_ string, data map[string]any) {
		var line strings.Builder
		fmt.Fprintf(&line, "%s %s from %s:", time.Now().In(l.zone).Format("01-02 15:04"), data["period"], data["from"])
		for _, sum := range data["user"].([]alerts.Sum) {
			fmt.Fprintf(&line, " %s %d", sum.Name, sum.CostMicro/1e6)
			if sum.Previous != nil {
				fmt.Fprintf(&line, " after %d", *sum.Previous/1e6)
			}
		}
		lines = append(lines, line.String())
	}}
	ctx, cancel := context.WithTimeout(t.Context(), runs)
	defer cancel()
	r.Run(ctx)
	return lines
}

// A bubble begins at midnight UTC of 2000-01-01, a Saturday.
func TestEachPeriodIsReportedOnceItHasEndedInTheZoneOfTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone, err := time.LoadLocation("America/New_York")
		require.NoError(t, err)
		at := func(month time.Month, day, hour int) time.Time {
			return time.Date(2000, month, day, hour, 0, 0, 0, zone)
		}
		l := &ledger{zone: zone, calls: []call{
			{time.Date(1999, 12, 30, 23, 59, 0, 0, zone), "ada", 2},
			{time.Date(1999, 12, 31, 12, 0, 0, 0, zone), "ada", 3},
			{at(1, 2, 23), "bob", 7}, {at(1, 3, 0), "refused", 0},
			{at(1, 4, 0), "ada", 1}, {at(1, 4, 1), "bob", 9}, {at(1, 4, 1), "refused", 0},
		}}
		assert.Equal(t, []string{
			"12-31 19:00 daily from 1999-12-30T00:00:00-05:00: ada 2 after 0", // the day before: it is still the old year there
			"01-01 00:15 daily from 1999-12-31T00:00:00-05:00: ada 3 after 2",
			"01-01 00:15 monthly from 1999-12-01T00:00:00-05:00: ada 5 after 0",
			"01-03 00:15 daily from 2000-01-02T00:00:00-05:00: bob 7 after 0",
			"01-03 00:15 weekly from 1999-12-27T00:00:00-05:00: bob 7 after 0 ada 5 after 0",
			"01-05 00:15 daily from 2000-01-04T00:00:00-05:00: bob 9 after 0 ada 1 after 0",
		}, reports(t, l, zap.NewNop(), 6*24*time.Hour))
		// After a week without a gateway, the last day with calls is not lost. The webhook knows the others.
		time.Sleep(7 * 24 * time.Hour)
		assert.Equal(t, []string{
			"01-13 19:00 daily from 2000-01-04T00:00:00-05:00: bob 9 after 0 ada 1 after 0",
			"01-13 19:00 weekly from 2000-01-03T00:00:00-05:00: bob 9 after 7 ada 1 after 5",
			"01-13 19:00 monthly from 1999-12-01T00:00:00-05:00: ada 5 after 0",
		}, reports(t, l, zap.NewNop(), time.Hour))
	})
}

func TestALedgerThatFailsIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{zone: time.UTC, calls: []call{{time.Now().Add(-time.Hour), "ada", 2}}}
		core, logs := observer.New(zap.WarnLevel)
		time.Sleep(settling)
		l.back = time.Now().Add(5*time.Minute + time.Second)
		got := reports(t, l, zap.New(core), time.Hour)
		require.Len(t, got, 2)
		assert.Equal(t, "01-01 00:21 daily from 1999-12-31T00:00:00Z: ada 2 after 0", got[0])
		assert.Equal(t, 1, logs.FilterMessage("the spend of a period cannot be reported; trying again").Len())
	})
}

// A name that is not among those of the period before has no change, unless all names of it are known.
func TestChangesOfUnknownNamesAreNotInvented(t *testing.T) {
	r := &Reporter{Ledger: many{}}
	sums, err := r.sums(t.Context(), []accounting.Dimension{accounting.ByKey}, time.Unix(0, 0), time.Unix(3600, 0), time.Unix(7200, 0))
	require.NoError(t, err)
	assert.Equal(t, []alerts.Sum{
		{Name: "b", CostMicro: 2_000_001, Currency: "USD", Previous: new(int64(1_000_000))},
		{Name: "a", CostMicro: 1_000_000, Currency: "USD"},
		{Others: 5, CostMicro: 9_000_000, Currency: "USD"},
	}, sums)
}

// many is a ledger with more keys than a report has.
type many struct{ Ledger }

func (many) Usage(_ context.Context, q accounting.UsageQuery) ([]accounting.Usage, error) {
	sum := func(key string, nanos int64) accounting.Usage {
		return accounting.Usage{Key: key, Calls: 1, Cost: aigateway.Cost{Nanos: nanos, Currency: "USD"}}
	}
	others := sum(accounting.Others, 9e9)
	others.Others = 5
	if q.From.Unix() == 0 {
		return []accounting.Usage{sum("b", 1e9), others}, nil
	}
	return []accounting.Usage{sum("a", 1e9), sum("b", 2_000_000_500), others}, nil
}
