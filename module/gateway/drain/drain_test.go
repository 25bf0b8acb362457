package drain

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// cancelled returns the time after which d cancels a call that begins now, 0 for never.
func cancelled(d *Drain) time.Duration {
	start := time.Now()
	ctx, cancel := d.Bind(context.Background(), 0)
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
			d := New()
			assert.Zero(t, cancelled(d), "no call is cancelled before the drain begins")
			assert.False(t, d.Begun())
			d.Begin(grace)
			assert.True(t, d.Begun(), "also without a grace period")
			assert.Equal(t, want, cancelled(d), grace)
		})
	}
}

func TestADrainBeginsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		d.Begin(10 * time.Second)
		d.Begin(time.Hour)
		assert.Equal(t, 8*time.Second, cancelled(d))
		assert.Zero(t, cancelled(d), "a later call is cancelled at once")
	})
}

func TestOnlyADrainInterrupts(t *testing.T) {
	d := New()
	gone, leave := context.WithCancel(context.Background())
	left, done := d.Bind(gone, 0)
	defer done()
	ended, cancel := d.Bind(context.Background(), 0)
	leave()
	cancel()
	waiting, leaveLater := context.WithCancel(context.Background())
	interrupted, done := d.Bind(waiting, 0)
	defer done()
	late, done := d.Bind(context.Background(), 0)
	defer done()
	assert.Len(t, d.calls, 3, "an exchange that is over was forgotten")
	d.cancel()
	<-late.Done()
	leaveLater()
	assert.ErrorIs(t, context.Cause(interrupted), ErrShuttingDown, "its client left afterwards")
	assert.NotErrorIs(t, context.Cause(left), ErrShuttingDown, "its client left before")
	assert.NotErrorIs(t, context.Cause(ended), ErrShuttingDown, "it was over before")
	assert.ErrorIs(t, context.Cause(late), ErrShuttingDown)
}

// waited returns how long Wait takes.
func waited(d *Drain) time.Duration {
	start := time.Now()
	d.Wait(context.Background())
	return time.Since(start)
}

func TestWaitReturnsWithTheLastExchangeOrTheGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		assert.Zero(t, waited(d), "nothing runs")
		d.Enter()
		d.Begin(3 * time.Second)
		assert.Equal(t, 3*time.Second, waited(d))
	})
	synctest.Test(t, func(t *testing.T) {
		d := New()
		d.Enter()
		d.Leave() // an exchange of long ago
		d.Enter()
		d.Enter()
		d.Begin(3 * time.Second)
		time.AfterFunc(995*time.Millisecond, d.Leave)
		time.AfterFunc(996*time.Millisecond, d.Leave)
		assert.Equal(t, 996*time.Millisecond, waited(d))
	})
}

// Without a grace period, calls for which no server waits were never cancelled, so their
// clients got no error.
func TestWithoutAGracePeriodCallsAreCancelledWhenTheServersHaveStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		d.Enter()
		ctx, cancel := d.Bind(context.Background(), 0)
		defer cancel()
		assert.Equal(t, farewell, waited(d), "the process does not wait longer")
		assert.ErrorIs(t, context.Cause(ctx), ErrShuttingDown)
	})
}

// Without the error of a deadline, the transport would take it for a client that has left.
func TestTheDeadlineEndsTheContextWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, began := New(), time.Now()
		ctx, cancel := d.Bind(context.Background(), time.Minute)
		defer cancel()
		<-ctx.Done()
		assert.ErrorIs(t, context.Cause(ctx), ErrDeadline)
		assert.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "the client has not left")
		assert.Equal(t, time.Minute, time.Since(began))

		ended, cancel := d.Bind(context.Background(), time.Minute)
		cancel()
		assert.ErrorIs(t, context.Cause(ended), context.Canceled)
	})
}

func TestExchangesThatEndedAreCountedForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New()
		assert.Zero(t, d.Ended())
		for range 90 { // one a second
			d.Enter()
			d.Leave()
			time.Sleep(time.Second)
		}
		assert.Equal(t, 59, d.Ended(), "the second that has begun had none")
		time.Sleep(30 * time.Second)
		assert.Equal(t, 29, d.Ended())
		time.Sleep(30 * time.Second)
		assert.Zero(t, d.Ended())
		d.Enter()
		assert.Zero(t, d.Ended(), "it runs")
		d.Leave()
		assert.Equal(t, 1, d.Ended())
		time.Sleep(24 * time.Hour)
		assert.Zero(t, d.Ended())
	})
}
