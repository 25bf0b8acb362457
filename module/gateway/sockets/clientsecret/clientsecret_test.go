package clientsecret

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// A secret without an end is a second key that nobody can see.
func TestASecretExpires(t *testing.T) {
	s := &Secret{Expires: 1000}
	assert.True(t, s.Use(time.Unix(999, 0)))
	assert.False(t, s.Use(time.Unix(1000, 0)))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	assert.True(t, Of(r).Use(time.Unix(1<<40, 0)), "a request with a key")
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
		s, refused := Read(&realtime.Gemini, aigateway.Digest{}, []byte(body), now)
		assert.Nil(t, refused, body)
		assert.Equal(t, expires, s.Expires, body)
	}
}
