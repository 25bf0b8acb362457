package metrics

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hourOf returns the counts of a provider in the last hour.
func hourOf(t *testing.T, name string) ProviderHour {
	t.Helper()
	h := LastHour([]string{name})
	require.Len(t, h.Providers, 1)
	require.Len(t, h.Unshared, len(h.Providers[0].Calls))
	return h.Providers[0]
}

func TestTheLastHourIsShownByMinute(t *testing.T) {
	release := Hold(Names{Providers: []string{"sampled"}, Models: []string{"m", "n"}})
	t.Cleanup(release)
	synctest.Test(t, func(t *testing.T) {
		Attempt("sampled", "m", "answered") // before: no part of the hour
		stop := KeepHour()
		defer stop()
		Attempt("sampled", "m", "answered")
		Attempt("sampled", "n", "timeout")
		Attempt("sampled", "n", "client_closed")
		Attempt("sampled", "n", "cached") // which was a failure of the provider
		FirstEvent("m", "sampled", 75*time.Millisecond)
		FirstEvent("n", "sampled", 300*time.Millisecond)
		time.Sleep(61 * time.Second) // fake
		Attempt("sampled", "m", "refused")
		CounterFallback("allow")

		p := hourOf(t, "sampled")
		assert.Equal(t, []int64{3, 1}, p.Calls)
		assert.Equal(t, []int64{1, 0}, p.Failed, "neither clients nor requests are failures of the provider")
		require.NotNil(t, p.P50[0])
		assert.Equal(t, int64(100), *p.P50[0])
		assert.Equal(t, int64(380), *p.P95[0])
		assert.Nil(t, p.P50[1], "no stream began")
		assert.Equal(t, []int64{0, 1}, LastHour(nil).Unshared)
		assert.Equal(t, []int64{0, 0}, hourOf(t, "unknown").Calls)
	})
}

func TestNoMoreThanAnHourIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := KeepHour(), KeepHour()
		first()
		time.Sleep(3 * time.Hour) // fake
		h := LastHour(nil)
		assert.Len(t, h.Unshared, HourMinutes)
		assert.WithinDuration(t, time.Now().Add(-time.Hour), h.From, time.Minute)
		second()
		second() // has no effect
	})
	assert.Zero(t, hour.holders)
}

// A reload deletes the series of a provider that has left: its counter begins anew.
func TestACounterThatBeginsAnewHasNoNegativeIncrease(t *testing.T) {
	assert.Equal(t, int64(3), since(3, 10))
	assert.Equal(t, int64(7), since(10, 3))
}
