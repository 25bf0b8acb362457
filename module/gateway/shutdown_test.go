package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// told is how long after the beginning of a shutdown calls end, 0 for never.
func told(x *shutdown) time.Duration {
	start := time.Now()
	ctx, cancel := x.bind(context.Background())
	defer cancel()
	select {
	case <-ctx.Done():
		return time.Since(start)
	case <-time.After(24 * time.Hour):
		return 0
	}
}

func TestCallsEndShortlyBeforeTheGracePeriodDoes(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{
		30 * time.Second: 28 * time.Second,
		5 * time.Second:  3 * time.Second,
		4 * time.Second:  2 * time.Second,
		time.Second:      500 * time.Millisecond,
		0:                0,
		-time.Second:     0,
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newShutdown()
			assert.Zero(t, told(x), "no call ends while the process goes on")
			x.begin(grace)
			assert.Equal(t, want, told(x), grace)
		})
	}
}

func TestAShutdownBeginsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newShutdown()
		x.begin(10 * time.Second)
		x.begin(time.Hour)
		assert.Equal(t, 8*time.Second, told(x))
		assert.Zero(t, told(x), "what comes later ends at once")
	})
}

func TestOnlyTheShutdownCutsShort(t *testing.T) {
	x := newShutdown()
	gone, leave := context.WithCancel(context.Background())
	left, done := x.bind(gone)
	defer done()
	ended, cancel := x.bind(context.Background())
	leave()
	cancel()
	late, done := x.bind(context.Background())
	defer done()
	x.end(errShuttingDown)
	<-late.Done()
	assert.False(t, cutShort(left), "its client left before")
	assert.False(t, cutShort(ended), "it was over before")
	assert.True(t, cutShort(late))
}

// waited is how long the end of a process waits.
func waited(x *shutdown) time.Duration {
	start := time.Now()
	x.wait(context.Background())
	return time.Since(start)
}

func TestTheEndWaitsForExchangesButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newShutdown()
		assert.Zero(t, waited(x), "nothing runs")
		x.enter()
		x.begin(3 * time.Second)
		assert.Equal(t, 3*time.Second, waited(x))
	})
	synctest.Test(t, func(t *testing.T) {
		x := newShutdown()
		x.enter()
		x.leave() // an exchange of long ago
		x.enter()
		x.enter()
		x.begin(3 * time.Second)
		time.AfterFunc(995*time.Millisecond, x.leave)
		time.AfterFunc(996*time.Millisecond, x.leave)
		assert.Equal(t, 996*time.Millisecond, waited(x))
	})
}

// Without a grace period nobody was told of the end whom no server waited for
// any more.
func TestWithoutAGracePeriodTheEndIsToldWhenTheServersHaveStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newShutdown()
		x.enter()
		ctx, cancel := x.bind(context.Background())
		defer cancel()
		assert.Equal(t, farewell, waited(x), "but the process does not wait for ever")
		assert.True(t, cutShort(ctx))
	})
}
