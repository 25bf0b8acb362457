package exchange

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAKeyIsRefusedFromItsExpiryOn(t *testing.T) {
	expires := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	key := Key{Expires: expires}
	assert.False(t, key.Expired(expires.Add(-time.Nanosecond)))
	assert.True(t, key.Expired(expires))
	assert.True(t, key.Expired(expires.Add(time.Hour)))
	assert.False(t, new(Key).Expired(expires), "without a date it never expires")
}

func TestAKeyWithoutModelsMayUseAll(t *testing.T) {
	assert.True(t, new(Key).Allows("anything"))
	key := Key{Models: []Pattern{"demo", "claude-*"}}
	assert.True(t, key.Allows("demo"))
	assert.True(t, key.Allows("claude-x"))
	assert.False(t, key.Allows("demo2"))
	assert.False(t, key.Allows(""))
}
