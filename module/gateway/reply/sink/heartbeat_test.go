package sink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestHeartbeatIsDueAfterSilenceAndNeverInsideAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heartbeat
		h.start(time.Minute, 15*time.Second, func() {})
		defer h.stop()
		assert.True(t, h.due(false), "the timer decides about the first one")
		h.note([]byte(event))
		h.flush()
		assert.False(t, h.due(true))
		time.Sleep(15 * time.Second)
		assert.True(t, h.due(true))
		h.note([]byte("data: half"))
		h.flush()
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
		h.flush()
		assert.Equal(t, 15*time.Second, <-fired)
		h.rearm()
		assert.Equal(t, 25*time.Second, <-fired)
		h.stop()
	})
}

// A stream is flushed before each wait for the provider, also if nothing was written: each ping
// of a provider that the client does not get began the silence anew, and the client got no
// keep-alives.
func TestAFlushOfNothingDoesNotEndTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heartbeat
		h.start(-1, 15*time.Second, func() {})
		defer h.stop()
		h.note([]byte(event))
		h.flush()
		for range 3 {
			assert.False(t, h.due(true))
			time.Sleep(5 * time.Second)
			h.flush()
		}
		assert.True(t, h.due(true))
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

func TestEventBoundaryIsFoundForEveryLineBreak(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "data: x\n\n": true, "data: x\r\n\r\n": true, "data: x\r\r": true, "data: x\n\r\n": true, "data: x\r\n\n": true,
		"data: x\r\n\r": true, ": comment\n\n": true, "\n\n": true,
		"data: x": false, "data: x\n": false, "data: x\r": false, "data: x\r\n": false, "data: x\n\nd": false, "x": false, "\n": false, "\r\n": false,
	} {
		for size := 1; size <= 5; size++ {
			var end eventBoundary
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				end.note([]byte(rest[:n]))
				rest = rest[n:]
			}
			assert.Equal(t, want, end.reached(), "%q in pieces of %d", text, size)
		}
	}
}

// TestEventBoundaryAgreesWithTheLexer checks every text of a few characters: if the boundary
// is reached, the lexer begins a new event with the next byte.
func TestEventBoundaryAgreesWithTheLexer(t *testing.T) {
	var texts []string
	for level := []string{"data: x"}; len(level[0]) < len("data: x")+6; {
		var longer []string
		for _, text := range level {
			for _, c := range []string{"\n", "\r", "x"} {
				longer = append(longer, text+c)
			}
		}
		texts, level = append(texts, longer...), longer
	}
	for _, text := range texts {
		var end eventBoundary
		end.note([]byte(text))
		lexer := sse.NewLexer(0)
		lexer.Feed([]byte(text + "data: probe\n\n"))
		var last sse.Event
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			last = event
			last.Data = append([]byte(nil), event.Data...)
		}
		assert.Equal(t, string(last.Data) == "probe" && last.Start == int64(len(text)), end.reached(), "%q", text)
	}
}
