package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// A provider that reports no time let a conversation last for nothing.
func TestAStretchEndsByTheClockOfTheGateway(t *testing.T) {
	began := time.Unix(1000, 0)
	k := clock{began: began, settled: 100}
	assert.Equal(t, int64(31), k.rest(k.lasted(began.Add(130*time.Second+time.Millisecond))).Units.Seconds)
	assert.True(t, k.lasted(began).Inconsistent, "it is no report of a provider")
	assert.Zero(t, k.rest(k.lasted(began.Add(time.Second))).Units.Seconds, "never less than nothing")
	k.search(2, true)
	k.search(1, true)
	k.search(2, false)
	assert.Equal(t, int64(3), k.searches)
	c := &conversation{running: map[string]*turn{}, partner: partner{dialect: &realtime.Live}}
	c.lastByClock(began) // nothing runs
}

// Names in messages grew without a bound.
func TestOthersAreBounded(t *testing.T) {
	var o others
	for i := range 3 * mostOthers {
		o.note("model-" + string(rune('A'+i)))
	}
	o.note("gpt-5.5")
	o.note("gpt-5")
	o.note("gpt-5.5")
	assert.Len(t, o, mostOthers)
	assert.Equal(t, "gpt-5.5", o.nameOf("gpt-5.5-2026-04-01"))
	assert.Equal(t, "gpt-5", o.nameOf("gpt-5-mini"))
	assert.Equal(t, "other", o.nameOf("other"))
	assert.Equal(t, "gpt-5.5", o.nameOf(""))
}
