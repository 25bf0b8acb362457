package aigateway

import (
	"crypto/sha256"
	"math"
	"net/netip"
	"strconv"
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

func TestKeysBoundToNetworksAreRefusedElsewhere(t *testing.T) {
	key := &Key{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "2001:db8::1": true, "2001:db8::1%eth0": true,
		"11.0.0.1": false, "2001:db9::1": false, "::ffff:11.0.0.1": false,
	} {
		assert.Equal(t, want, key.AllowsFrom(netip.MustParseAddr(address)), address)
	}
	assert.False(t, key.AllowsFrom(netip.Addr{}), "an unknown address")
	assert.True(t, new(Key).AllowsFrom(netip.Addr{}), "a key without networks")
}

func TestIDsOfStoredKeysAreTheirNumbers(t *testing.T) {
	for _, number := range []int64{1, 7, 10, math.MaxInt64} {
		assert.True(t, IsStoredKeyID(StoredKeyID(number)))
		for _, id := range []string{StoredKeyID(number), strconv.FormatInt(number, 10)} {
			read, ok := StoredKeyNumber(id)
			assert.Equal(t, []any{number, true}, []any{read, ok}, id)
		}
	}
	for _, id := range []string{"", "key", "key_", "key_0", "key_-1", "key_+1", "key_01", "key_1a", "Key_1", "key-1", "7", "key_key_1", "key_9223372036854775808"} {
		assert.False(t, IsStoredKeyID(id), id)
		_, ok := StoredKeyNumber(id)
		assert.Equal(t, id == "7", ok, id)
	}
}

func TestAKeyMatchesItsDigestOnly(t *testing.T) {
	key := Key{Digest: sha256.Sum256([]byte("sk-one"))}
	assert.True(t, key.Matches(sha256.Sum256([]byte("sk-one"))))
	assert.False(t, key.Matches(sha256.Sum256([]byte("sk-two"))))
	assert.False(t, key.Matches(Digest{}))
}
