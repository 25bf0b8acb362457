package watch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// watched is a context under a watch.
func watched(limit time.Duration) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w := new(Watch)
	w.Start(Headers(limit), func() {
		if cause := w.Over(); cause != nil {
			cancel(cause)
		}
	})
	return ctx, w
}

func TestWatchEndsASilentCallWithItsNamedCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, _ := watched(10 * time.Second)
		<-ctx.Done()
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Equal(t, errHeaders, context.Cause(ctx))
		assert.NotErrorIs(t, context.Cause(ctx), context.Canceled)
	})
}

func TestEverySignOfLifeGivesTheWholeLimitAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, w := watched(10 * time.Second)
		for range 5 {
			time.Sleep(9 * time.Second)
			w.Touch()
		}
		assert.NoError(t, ctx.Err())
		<-ctx.Done()
		assert.Equal(t, 55*time.Second, time.Since(start))
	})
}

func TestAnotherPhaseHasItsOwnLimitAndCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, w := watched(10 * time.Second)
		time.Sleep(9 * time.Second)
		w.Enter(Rest(time.Minute))
		<-ctx.Done()
		assert.Equal(t, 69*time.Second, time.Since(start))
		assert.Equal(t, errIdle, context.Cause(ctx))

		start = time.Now()
		ctx, w = watched(time.Hour)
		w.Enter(Drain(time.Second))
		<-ctx.Done()
		assert.Equal(t, time.Second, time.Since(start), "a shorter limit counts at once")
	})
}

func TestAStoppedWatchNeverFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := watched(10 * time.Second)
		w.Stop()
		w.Enter(Rest(time.Second))
		w.Touch()
		w.Stop()
		time.Sleep(time.Hour)
		assert.NoError(t, ctx.Err())
	})
}

func TestStopAndFireMayMeet(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, w := watched(time.Second)
			var both sync.WaitGroup
			both.Go(func() {
				time.Sleep(time.Second)
				w.Stop()
			})
			both.Go(func() {
				time.Sleep(time.Second)
				w.Touch()
			})
			both.Wait()
			time.Sleep(time.Minute)
			if ctx.Err() != nil {
				assert.Equal(t, errHeaders, context.Cause(ctx))
			}
		})
	}
}

func TestAWatchThatIsHeldDoesNotAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, w := watched(10 * time.Second)
		time.Sleep(4 * time.Second)
		w.Hold()
		time.Sleep(time.Hour)
		assert.NoError(t, ctx.Err())
		w.Resume()
		<-ctx.Done()
		assert.Equal(t, time.Hour+10*time.Second, time.Since(start), "what was left of the phase")
	})
}

func TestASignOfLifeCountsInAWatchThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := watched(10 * time.Second)
		time.Sleep(4 * time.Second)
		w.Hold()
		w.Touch()
		time.Sleep(time.Hour)
		w.Resume()
		start := time.Now()
		<-ctx.Done()
		assert.Equal(t, 10*time.Second, time.Since(start))
	})
}
