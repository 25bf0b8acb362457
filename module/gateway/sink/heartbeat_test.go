package sink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestHeartbeatIsDueAfterSilenceAndNeverInsideAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heartbeat
		h.start(time.Minute, 15*time.Second, func() {})
		defer h.stop()
		assert.True(t, h.due(false), "the timer decides about the first one")
		h.note([]byte(event))
		assert.False(t, h.due(true))
		time.Sleep(15 * time.Second)
		assert.True(t, h.due(true))
		h.note([]byte("data: half"))
		time.Sleep(time.Hour)
		assert.False(t, h.due(true))
	})
}

// TestHeartbeatFiresAtTheEndOfTheSilence covers bytes that are sent before the timer fires:
// they restart the period of silence, but not the timer.
func TestHeartbeatFiresAtTheEndOfTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heartbeat
		start := time.Now()
		fired := make(chan time.Duration)
		h.start(-1, 15*time.Second, func() { fired <- time.Since(start) })
		time.Sleep(10 * time.Second)
		h.note([]byte(event))
		assert.Equal(t, 15*time.Second, <-fired)
		h.rearm()
		assert.Equal(t, 25*time.Second, <-fired)
		h.stop()
	})
}

func TestHeartbeatIsOffWithoutTimes(t *testing.T) {
	var h heartbeat
	h.start(-1, -1, func() {})
	assert.Nil(t, h.timer)
	h.commit()
	h.rearm()
	h.stop()
}
