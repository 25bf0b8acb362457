package cache

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
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

// keyOf returns the key of a request of the first scope.
func keyOf(request int) exchange.CacheKey {
	return exchange.CacheKey{Request: [32]byte{byte(request), byte(request >> 8)}}
}

func TestX125TheMemoryIsBounded(t *testing.T) {
	m := newMemory(Bounds{Max: 10 << 10, Entry: 1 << 10})
	for i := range 300 {
		m.Put(keyOf(i), answerOf(1<<10), time.Hour)
		m.Get(keyOf(0), forever)
		assert.LessOrEqual(t, m.size, m.bounds.Max)
		assert.Equal(t, len(m.entries), m.used.Len())
	}
	assert.Len(t, m.entries, 6)
	found, _ := m.Get(keyOf(0), forever)
	assert.NotNil(t, found, "it was used all the time")
	found, _ = m.Get(keyOf(2), forever)
	assert.Nil(t, found)
	removed, err := m.Clear()
	require.NoError(t, err)
	assert.Equal(t, 6, removed)
	assert.Zero(t, m.size)
}

func TestAnAnswerReplacesAnEarlierOne(t *testing.T) {
	m := newMemory(Bounds{Max: 1 << 20})
	m.Put(exchange.CacheKey{}, answerOf(1000), time.Hour)
	m.Put(exchange.CacheKey{}, answerOf(1), time.Hour)
	found, _ := m.Get(exchange.CacheKey{}, forever)
	assert.Len(t, found.Body, 1)
	assert.Len(t, m.entries, 1)
	assert.Less(t, m.size, int64(1000))
}

// Models share a memory: the answer that a model with a short ttl refreshed took the longer one of another away.
// The rule of each model bounds the age that it accepts.
func TestAShorterTTLDoesNotShortenAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(Bounds{Max: 1 << 20})
		m.Put(keyOf(1), answerOf(1000), 24*time.Hour)
		time.Sleep(2 * time.Hour) // of the clock of the test
		m.Put(keyOf(1), answerOf(1), time.Hour)
		time.Sleep(22*time.Hour - time.Second)
		found, age := m.Get(keyOf(1), forever)
		require.NotNil(t, found)
		assert.Len(t, found.Body, 1, "the later answer")
		assert.Equal(t, 22*time.Hour-time.Second, age)
		found, _ = m.Get(keyOf(1), time.Hour)
		assert.Nil(t, found, "the model with the shorter ttl")
		time.Sleep(time.Second)
		found, _ = m.Get(keyOf(1), forever)
		assert.Nil(t, found)
	})
}

func TestAnswersExpire(t *testing.T) {
	m := newMemory(Bounds{Max: 1 << 20})
	m.Put(keyOf(1), answerOf(1), time.Nanosecond)
	assert.Eventually(t, func() bool { found, _ := m.Get(keyOf(1), forever); return found == nil }, time.Minute, time.Millisecond)
	assert.Empty(t, m.entries)
	assert.Zero(t, m.size)
	m.Put(keyOf(2), answerOf(1), time.Hour)
	found, _ := m.Get(keyOf(2), 0)
	assert.Nil(t, found, "older than the client accepts")
	assert.Len(t, m.entries, 1)
}

// A reload provisions the new configuration before it ends the old one.
func TestMemoriesSurviveAReload(t *testing.T) {
	load := func(b *Bounds) (exchange.CachedAnswers, context.CancelFunc) {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		var o *Options
		if b != nil {
			o = &Options{Bounds: *b}
		}
		m, err := Load(ctx, o, nil)
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

func TestOptionsAreChecked(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for want, o := range map[string]*Options{
		"cache: max and entry must be positive":                     {Bounds: Bounds{Max: -1}},
		"cache: entry (2000 bytes) is larger than max (1000 bytes)": {Bounds: Bounds{Max: 1000, Entry: 2000}},
		"cache: max is the bound of the memory; what gateways share has a bound of its own": {
			Bounds: Bounds{Max: 1000}, InRaw: json.RawMessage(`{"cache":"redis"}`),
		},
	} {
		_, err := Load(ctx, o, nil)
		assert.EqualError(t, err, want)
	}
}

func TestAnswersAreRemovedByScope(t *testing.T) {
	m := newMemory(Bounds{Max: 1 << 20})
	for _, scope := range []exchange.CacheScope{alice, bob} {
		for i := range 3 {
			m.Put(exchange.CacheKey{Scope: scope, Request: keyOf(i).Request}, answerOf(1), time.Hour)
		}
	}
	removed, err := m.Clear(alice, exchange.CacheScope{3})
	require.NoError(t, err)
	assert.Equal(t, 3, removed)
	found, _ := m.Get(exchange.CacheKey{Scope: alice}, forever)
	assert.Nil(t, found)
	found, _ = m.Get(exchange.CacheKey{Scope: bob}, forever)
	assert.NotNil(t, found)
}
