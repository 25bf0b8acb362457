package health_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
)

var measured = health.Stream{Provider: "a", Model: "m", Format: "chat"}

// note records a stream that begins now.
func note(l *health.Latencies, s health.Stream, took time.Duration) {
	l.Note(s, time.Now().Add(-took), time.Now())
}

// The median is that of the streams before the current minute, within the width of a bucket. The times
// are spread evenly: the median of times at random was sometimes too far away.
func TestTheMedianIsThatOfTheMinutesBefore(t *testing.T) {
	for _, typical := range []time.Duration{time.Millisecond, 37 * time.Millisecond, 400 * time.Millisecond, 9 * time.Second, 3 * time.Minute} {
		t.Run(typical.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l health.Latencies
				for i := range 1001 {
					note(&l, measured, time.Duration(float64(typical)*(0.5+float64(i)/1000)))
				}
				_, ok := l.Median(measured)
				assert.False(t, ok, "of the current minute")
				time.Sleep(time.Minute)
				median, ok := l.Median(measured)
				assert.True(t, ok)
				assert.InEpsilon(t, typical, median, 0.1)
			})
		})
	}
}

// However the times of streams vary, the median changes once a minute at most.
func TestTheMedianChangesOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l health.Latencies
		changes, last := 0, time.Duration(0)
		for range 600 { // ten minutes
			time.Sleep(time.Second)
			note(&l, measured, time.Duration(rand.IntN(int(2*time.Second))))
			if median, _ := l.Median(measured); median != last {
				changes, last = changes+1, median
			}
		}
		assert.LessOrEqual(t, changes, 10)
		assert.Positive(t, changes)
	})
}

// A target that becomes slow is slow within minutes, and one without streams is unknown again.
func TestTheMedianFollowsTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l health.Latencies
		streams := func(minutes int, took time.Duration) {
			for range 100 * minutes {
				time.Sleep(time.Minute / 100)
				note(&l, measured, took)
			}
		}
		streams(20, 100*time.Millisecond)
		streams(7, time.Second)
		median, ok := l.Median(measured)
		assert.True(t, ok)
		assert.InEpsilon(t, time.Second, median, 0.05)
		time.Sleep(time.Hour)
		_, ok = l.Median(measured)
		assert.False(t, ok)
	})
}

// One stream is known for ten minutes: a target that few sessions try would be tried for ever.
func TestOneStreamIsKnownForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l health.Latencies
		note(&l, measured, time.Second)
		time.Sleep(9 * time.Minute)
		_, ok := l.Median(measured)
		assert.True(t, ok)
		time.Sleep(3 * time.Minute)
		_, ok = l.Median(measured)
		assert.False(t, ok)
	})
}

// Clients choose the names of models of some providers: their number is bounded.
func TestLatenciesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l health.Latencies
		for i := range 5000 {
			note(&l, health.Stream{Model: fmt.Sprint(i)}, time.Second)
		}
		time.Sleep(time.Minute)
		known := 0
		for i := range 5000 {
			if _, ok := l.Median(health.Stream{Model: fmt.Sprint(i)}); ok {
				known++
			}
		}
		assert.Equal(t, 4096, known)
	})
}
