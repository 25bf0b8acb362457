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

// numbered is a change with a number.
type numbered int

func (numbered) write(context.Context, *batch) {}
func (numbered) failed(error) bool             { return true }

// outage is a server that fails until a moment, and has what was sent to it since.
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

// A settlement was once dropped after ten seconds in which the server did not answer: what
// its request had reserved, the most that it might cost, counted until the period ended.
func TestChangesWaitUntilTheServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		b := newBacklog(o.send, zap.NewNop())
		var want []change
		for i := range 3 * mostAtOnce {
			want = append(want, numbered(i))
			b.add(numbered(i))
		}
		b.flush(t.Context(), time.Minute)
		assert.Empty(t, o.done)
		b.flush(t.Context(), 2*time.Hour)
		assert.Equal(t, want, o.done, "all of them, in their order")
		b.add(numbered(-1))
		b.close()
		assert.Equal(t, append(want, numbered(-1)), o.done, "and what comes later")
	})
}

func TestChangesBeyondTheBoundAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		core, logs := observer.New(zapcore.WarnLevel)
		b := newBacklog(o.send, zap.New(core))
		for i := range mostWaiting + 3 {
			b.add(numbered(i))
		}
		assert.Equal(t, 1, logs.Len(), "once")
		b.flush(t.Context(), 2*time.Hour)
		b.close()
		assert.Len(t, o.done, mostWaiting)
		assert.Equal(t, map[string]any{"number": int64(3)}, logs.FilterMessage("settlements were dropped").All()[0].ContextMap())
	})
}

// A gateway that ends while the server does not answer once waited ten seconds for each
// settlement.
func TestABacklogClosesDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := outage{until: time.Now().Add(time.Hour)}
		b := newBacklog(o.send, zap.NewNop())
		for i := range 3 * mostAtOnce {
			b.add(numbered(i))
		}
		began := time.Now()
		b.close()
		b.add(numbered(-1))
		b.close()
		assert.Less(t, time.Since(began), 2*retry)
		assert.Empty(t, b.waiting)
	})
}

// The server keeps a reservation for a day. A later settlement would add what was used to
// what is still reserved.
func TestASettlementIsGivenUpWithItsReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settlement{asked: time.Now()}
		time.Sleep(reservationLife - time.Nanosecond)
		assert.True(t, s.failed(errResting))
		time.Sleep(time.Nanosecond)
		assert.False(t, s.failed(errResting))
	})
}
