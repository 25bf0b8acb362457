package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// A secret without an end is a second key that nobody can see.
func TestASecretExpires(t *testing.T) {
	s := &secret{Expires: 1000}
	assert.False(t, s.expired(time.Unix(999, 0)))
	assert.True(t, s.expired(time.Unix(1000, 0)))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	assert.False(t, secretOf(r).expired(time.Unix(1<<40, 0)), "a request with a key")
}

// A token opened conversations behind its end, if that was before the time until which it could open them.
func TestATokenOpensNothingBehindItsEnd(t *testing.T) {
	now := time.Unix(1000, 0)
	for body, expires := range map[string]int64{
		``:                                      1060,
		`{"expireTime":"1970-01-01T00:17:00Z"}`: 1020,
		`{"expireTime":"1970-01-01T00:17:00Z","newSessionExpireTime":"1970-01-01T00:30:00Z"}`: 1020,
		`{"expireTime":"1970-01-01T00:30:00Z","newSessionExpireTime":"1970-01-01T00:17:00Z"}`: 1020,
	} {
		s := new(secret)
		assert.Nil(t, readToken([]byte(body), s, now), body)
		assert.Equal(t, expires, s.Expires, body)
	}
}

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
