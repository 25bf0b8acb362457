package transport

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// watched is a context under a watch.
func watched(limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w := new(watch)
	w.start(cancel, phase{limit, errHeaders})
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
			w.touch()
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
		w.enter(phase{time.Minute, errIdle})
		<-ctx.Done()
		assert.Equal(t, 69*time.Second, time.Since(start))
		assert.Equal(t, errIdle, context.Cause(ctx))

		start = time.Now()
		ctx, w = watched(time.Hour)
		w.enter(phase{time.Second, errDrain})
		<-ctx.Done()
		assert.Equal(t, time.Second, time.Since(start), "a shorter limit counts at once")
	})
}

func TestAStoppedWatchNeverFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := watched(10 * time.Second)
		w.stop()
		w.enter(phase{time.Second, errIdle})
		w.touch()
		w.stop()
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
				w.stop()
			})
			both.Go(func() {
				time.Sleep(time.Second)
				w.touch()
			})
			both.Wait()
			time.Sleep(time.Minute)
			if ctx.Err() != nil {
				assert.Equal(t, errHeaders, context.Cause(ctx))
			}
		})
	}
}
