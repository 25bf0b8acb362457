package redis

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// numbered is a change that has a number and no commands.
type numbered int

func (numbered) write(context.Context, *batch) {}
func (numbered) failed(error) bool             { return true }

// outage is a server that fails until a point in time, and collects the changes after it.
type outage struct {
	until time.Time
	done  []change
}

func (o *outage) send(changes []change) (failed []change) {
	if time.Now().Before(o.until) {
		return changes
	}
	o.done = append(o.done, changes...)
	return nil
}

// A settlement was once dropped if the server did not answer for ten seconds. The reserved
// amount of its request, its highest possible cost, then counted until the period ended.
func TestChangesWaitUntilTheServerIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		b := newBacklog(o.send, zap.NewNop())
		var want []change
		for i := range 3 * maxBatch {
			want = append(want, numbered(i))
			b.add(numbered(i))
		}
		b.flush(t.Context(), time.Minute)
		assert.Empty(t, o.done)
		b.flush(t.Context(), 2*time.Hour)
		assert.Equal(t, want, o.done, "all changes arrive in their order")
		b.add(numbered(-1))
		b.close()
		assert.Equal(t, append(want, numbered(-1)), o.done, "a later change arrives too")
	})
}

func TestChangesBeyondTheBoundAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		core, logs := observer.New(zapcore.WarnLevel)
		b := newBacklog(o.send, zap.New(core))
		for i := range maxWaiting + 3 {
			b.add(numbered(i))
		}
		assert.Equal(t, 1, logs.Len(), "the first dropped change is logged")
		b.flush(t.Context(), 2*time.Hour)
		b.close()
		assert.Len(t, o.done, maxWaiting)
		assert.Equal(t, map[string]any{"number": int64(3)}, logs.FilterMessage("settlements were dropped").All()[0].ContextMap())
	})
}

// If the server did not answer, a gateway that shut down once waited ten seconds for each
// settlement.
func TestABacklogClosesDuringAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		b := newBacklog(o.send, zap.NewNop())
		for i := range 3 * maxBatch {
			b.add(numbered(i))
		}
		began := time.Now()
		b.close()
		b.add(numbered(-1))
		b.close()
		assert.Less(t, time.Since(began), 2*retryAfter)
		assert.Empty(t, b.waiting)
	})
}

// The server keeps a reservation for a day, and the reserved amount for longer. A later
// settlement would add the used amount to the reserved one.
func TestASettlementIsGivenUpWithItsReservation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := settlement{began: time.Now(), clock: new(clock)}
		time.Sleep(reservationLife - time.Nanosecond)
		assert.True(t, s.failed(errResting))
		time.Sleep(time.Nanosecond)
		assert.False(t, s.failed(errResting))
	})
}
