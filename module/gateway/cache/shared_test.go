package cache

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// shelf is a store that gateways share.
type shelf struct {
	values map[string][]byte
	err    error // of each method
}

func (s *shelf) Get(name string) ([]byte, error) { return s.values[name], s.err }

func (s *shelf) Put(name string, value []byte, _ time.Duration) error {
	if s.err == nil {
		s.values[name] = value
	}
	return s.err
}

func (s *shelf) Remove(prefix string) (removed int, err error) {
	for name := range s.values {
		if strings.HasPrefix(name, prefix) {
			delete(s.values, name)
			removed++
		}
	}
	return removed, s.err
}

// sharedBy returns the cache of a gateway with a key for seals.
func sharedBy(t *testing.T, s *shelf, key string) *Shared {
	ring, err := seal.NewRing([]byte(strings.Repeat(key, 32)))
	require.NoError(t, err)
	return &Shared{store: s, seals: func() *seal.Ring { return ring }, entry: DefaultEntry}
}

var (
	alice = exchange.CacheScope{1}
	bob   = exchange.CacheScope{2}
)

func TestGatewaysWithTheSameKeysShareAnswers(t *testing.T) {
	s := &shelf{values: make(map[string][]byte)}
	first, second, stranger := sharedBy(t, s, "k"), sharedBy(t, s, "k"), sharedBy(t, s, "x")
	answers := map[exchange.CacheKey]*exchange.CachedAnswer{
		{Scope: alice}:                        {ContentType: "application/json", Body: []byte(`{"a":"secret"}`)},
		{Scope: bob}:                          {ContentType: "text/event-stream", Stream: true, Body: []byte("data: secret\n\n")},
		{Scope: alice, Request: [32]byte{31}}: {},
	}
	for key, answer := range answers {
		first.Put(key, answer, time.Hour)
	}
	for name, value := range s.values {
		assert.NotContains(t, name+string(value), "secret", "whoever reads the store sees no answer")
	}
	for key, answer := range answers {
		found, age := second.Get(key, forever)
		require.NotNil(t, found)
		assert.Equal(t, string(answer.Body), string(found.Body))
		assert.Equal(t, answer.ContentType, found.ContentType)
		assert.Equal(t, answer.Stream, found.Stream)
		assert.GreaterOrEqual(t, age, time.Duration(0))
		found, _ = second.Get(key, 0)
		assert.Nil(t, found, "older than the client accepts")
		found, _ = stranger.Get(key, forever)
		assert.Nil(t, found)
	}
	assert.NotEqual(t, first.MAC().Sum(nil), stranger.MAC().Sum(nil))
}

// A key in a file may change while the gateway runs.
func TestNewKeysHaveAnswersOfTheirOwn(t *testing.T) {
	s := &shelf{values: make(map[string][]byte)}
	c, other := sharedBy(t, s, "k"), sharedBy(t, s, "x")
	c.Put(keyOf(1), answerOf(1), time.Hour)
	before := c.seals
	c.seals = other.seals
	found, _ := c.Get(keyOf(1), forever)
	assert.Nil(t, found)
	c.seals = before
	found, _ = c.Get(keyOf(1), forever)
	assert.NotNil(t, found)
}

// Values of a store that others can write are not trusted.
func TestAChangedValueIsNoAnswer(t *testing.T) {
	s := &shelf{values: make(map[string][]byte)}
	c := sharedBy(t, s, "k")
	mine, other := exchange.CacheKey{Scope: alice}, exchange.CacheKey{Scope: bob}
	c.Put(mine, answerOf(10), time.Hour)
	var value []byte
	for _, only := range s.values {
		value = only
	}
	s.values[nameOf(c.vault(), other)] = value // an answer of another client
	found, _ := c.Get(other, forever)
	assert.Nil(t, found)
	for n := range value {
		s.values[nameOf(c.vault(), mine)] = value[:n]
		found, _ = c.Get(mine, forever)
		require.Nil(t, found, "cut off at byte %d", n)
	}
}

func TestValuesOfAnotherFormAreNoAnswers(t *testing.T) {
	whole := encode(&exchange.CachedAnswer{ContentType: "text/plain", Body: []byte("hi")}, time.Now())
	answer, _ := decode(whole)
	assert.Equal(t, "hi", string(answer.Body))
	for n := range len(whole) - len("hi") {
		answer, _ = decode(whole[:n])
		assert.Nil(t, answer, "%d bytes", n)
	}
	answer, _ = decode(append([]byte{form + 1}, whole[1:]...))
	assert.Nil(t, answer)
}

func TestSharedAnswersAreRemovedByScope(t *testing.T) {
	s := &shelf{values: make(map[string][]byte)}
	c := sharedBy(t, s, "k")
	for i := range 3 {
		c.Put(exchange.CacheKey{Scope: alice, Request: keyOf(i).Request}, answerOf(1), time.Hour)
		c.Put(exchange.CacheKey{Scope: bob, Request: keyOf(i).Request}, answerOf(1), time.Hour)
	}
	removed, err := c.Clear(alice, exchange.CacheScope{3})
	require.NoError(t, err)
	assert.Equal(t, 3, removed)
	found, _ := c.Get(exchange.CacheKey{Scope: bob}, forever)
	assert.NotNil(t, found)
	removed, err = c.Clear()
	require.NoError(t, err)
	assert.Equal(t, 3, removed)
	assert.Empty(t, s.values)
}

func TestAStoreThatDoesNotAnswerHasNoAnswers(t *testing.T) {
	s := &shelf{values: make(map[string][]byte), err: errors.New("away")}
	c := sharedBy(t, s, "k")
	c.Put(keyOf(1), answerOf(1), time.Hour)
	found, _ := c.Get(keyOf(1), forever)
	assert.Nil(t, found)
	_, err := c.Clear(alice)
	assert.ErrorIs(t, err, s.err)
	_, err = c.Clear()
	assert.ErrorIs(t, err, s.err)
}
