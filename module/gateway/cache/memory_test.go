package cache

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

const forever = time.Duration(1<<63 - 1)

func answerOf(size int) *exchange.CachedAnswer {
	return &exchange.CachedAnswer{ContentType: "application/json", Body: []byte(strings.Repeat("x", size))}
}

func TestX125TheMemoryIsBounded(t *testing.T) {
	m := newMemory(Bounds{Max: 10 << 10, Entry: 1 << 10})
	for i := range 300 {
		m.Put(exchange.CacheKey{byte(i), byte(i >> 8)}, exchange.CacheScope{}, answerOf(1<<10), time.Hour)
		m.Get(exchange.CacheKey{0}, forever)
		assert.LessOrEqual(t, m.size, m.bounds.Max)
		assert.Equal(t, len(m.entries), m.used.Len())
	}
	assert.Len(t, m.entries, 6)
	found, _ := m.Get(exchange.CacheKey{0}, forever)
	assert.NotNil(t, found, "it was used all the time")
	found, _ = m.Get(exchange.CacheKey{2}, forever)
	assert.Nil(t, found)
	assert.Equal(t, 6, m.Clear())
	assert.Zero(t, m.size)
}

func TestAnAnswerReplacesAnEarlierOne(t *testing.T) {
	m := newMemory(Bounds{Max: 1 << 20})
	m.Put(exchange.CacheKey{}, exchange.CacheScope{}, answerOf(1000), time.Hour)
	m.Put(exchange.CacheKey{}, exchange.CacheScope{}, answerOf(1), time.Hour)
	found, _ := m.Get(exchange.CacheKey{}, forever)
	assert.Len(t, found.Body, 1)
	assert.Len(t, m.entries, 1)
	assert.Less(t, m.size, int64(1000))
}

func TestAnswersExpire(t *testing.T) {
	m := newMemory(Bounds{Max: 1 << 20})
	m.Put(exchange.CacheKey{1}, exchange.CacheScope{}, answerOf(1), time.Nanosecond)
	assert.Eventually(t, func() bool { found, _ := m.Get(exchange.CacheKey{1}, forever); return found == nil }, time.Minute, time.Millisecond)
	assert.Empty(t, m.entries)
	assert.Zero(t, m.size)
	m.Put(exchange.CacheKey{2}, exchange.CacheScope{}, answerOf(1), time.Hour)
	found, _ := m.Get(exchange.CacheKey{2}, 0)
	assert.Nil(t, found, "older than the client accepts")
	assert.Len(t, m.entries, 1)
}

// A reload provisions the new configuration before it ends the old one.
func TestMemoriesSurviveAReload(t *testing.T) {
	load := func(b *Bounds) (*Memory, context.CancelFunc) {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		m, err := Load(ctx, b)
		require.NoError(t, err)
		return m, cancel
	}
	first, endFirst := load(nil)
	second, endSecond := load(&Bounds{Max: DefaultMax})
	assert.Same(t, first, second)
	endFirst()
	third, endThird := load(nil)
	assert.Same(t, first, third)
	small, endSmall := load(&Bounds{Max: 1000})
	assert.NotSame(t, first, small)
	assert.EqualValues(t, 1000, small.Largest())
	endSecond()
	endThird()
	endSmall()
	assert.Eventually(t, func() bool {
		fresh, end := load(nil)
		defer end()
		return fresh != first
	}, time.Minute, time.Millisecond)
}

func TestBoundsAreChecked(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for want, b := range map[string]*Bounds{
		"cache: max and entry must be positive":                     {Max: -1},
		"cache: entry (2000 bytes) is larger than max (1000 bytes)": {Max: 1000, Entry: 2000},
	} {
		_, err := Load(ctx, b)
		assert.EqualError(t, err, want)
	}
}
