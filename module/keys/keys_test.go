package keys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const secret = "sk-0123456789abcdefghijklmnop"

func sumOf(key string) aigateway.Digest { return sha256.Sum256([]byte(key)) }

func hexOf(key string) string {
	d := sumOf(key)
	return "sha256:" + hex.EncodeToString(d[:])
}

// provision loads keys as the gateway does.
func provision(t *testing.T, entries ...Entry) (*ConfigKeys, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	config, err := json.Marshal(&ConfigKeys{Keys: entries})
	require.NoError(t, err)
	mod, err := ctx.LoadModuleByID("ai_gateway.keys.config", config)
	if err != nil {
		return nil, err
	}
	return mod.(*ConfigKeys), nil
}

func TestKeysAreFoundByTheirDigest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("sk-from-a-file-0123456789\n"), 0o600))
	t.Setenv("TEST_KEY", secret)
	keys, err := provision(t,
		Entry{Name: "env", Key: "{env.TEST_KEY}"},
		Entry{Name: "file", Key: "{file." + file + "}"},
		Entry{Name: "digest", Key: hexOf("sk-only-its-digest"), Models: []string{"gpt-*"}, Expires: "2027-01-02",
			Networks: []string{"10.0.0.0/8", "192.0.2.7"}, Owner: "ops@example.com", Limit: "small", Disabled: true},
	)
	require.NoError(t, err)

	for key, name := range map[string]string{
		secret: "env", "sk-from-a-file-0123456789": "file", "sk-only-its-digest": "digest",
	} {
		entry := keys.Lookup(sumOf(key))
		if assert.NotNil(t, entry, name) {
			assert.Equal(t, name, entry.ID)
			assert.Equal(t, sumOf(key), entry.Digest)
		}
	}
	restricted := keys.Lookup(sumOf("sk-only-its-digest"))
	assert.Equal(t, []aigateway.Pattern{"gpt-*"}, restricted.Models)
	assert.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32")}, restricted.Networks)
	assert.Equal(t, "ops@example.com", restricted.Owner)
	assert.Equal(t, "small", restricted.Limit)
	assert.True(t, restricted.Disabled)
	assert.False(t, keys.Lookup(sumOf(secret)).Disabled)
	assert.Equal(t, time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), restricted.Expires)
}

func TestUnknownKeysAreNotFound(t *testing.T) {
	t.Setenv("TEST_KEY", secret)
	keys, err := provision(t, Entry{Name: "one", Key: "{env.TEST_KEY}"})
	require.NoError(t, err)
	for _, key := range []string{"", "sk-", secret[:len(secret)-1], secret + "x", strings.ToUpper(secret), hexOf(secret)} {
		assert.Nil(t, keys.Lookup(sumOf(key)), key)
	}
	assert.Nil(t, keys.Lookup(aigateway.Digest{}))
}

func TestEntriesThatAreRefused(t *testing.T) {
	t.Setenv("TEST_KEY", secret)
	t.Setenv("SAME_KEY", secret)
	t.Setenv("EMPTY_KEY", "")
	t.Setenv("SHORT_KEY", "sk-5678")
	t.Setenv("LONG_KEY", strings.Repeat("k", 257))
	t.Setenv("SPACED_KEY", "sk-with a-space")
	t.Setenv("WIDE_KEY", "sk-schlüssel")
	t.Setenv("LIST_KEY", "sk,with-comma-1234567890")
	good := Entry{Name: "good", Key: "{env.TEST_KEY}"}
	for name, c := range map[string]struct {
		entries []Entry
		want    string
	}{
		"literal":     {[]Entry{{Name: "a", Key: secret}}, "a literal key is refused"},
		"no key":      {[]Entry{{Name: "a"}}, "a key is {env.NAME}"},
		"no name":     {[]Entry{{Key: "{env.TEST_KEY}"}}, "the name of a key"},
		"spaced name": {[]Entry{{Name: "a b", Key: "{env.TEST_KEY}"}}, "the name of a key"},
		// Logs could not distinguish this key from the key of a user.
		"name of a stored key": {[]Entry{{Name: "key_17", Key: "{env.TEST_KEY}"}}, "choose another name"},
		// Commands took the name for the number of a key of a user, and showed that or nothing.
		"number":         {[]Entry{{Name: "17", Key: "{env.TEST_KEY}"}}, "choose another name"},
		"unset variable": {[]Entry{{Name: "a", Key: "{env.NO_SUCH_KEY}"}}, "resolving secret"},
		"empty variable": {[]Entry{{Name: "a", Key: "{env.EMPTY_KEY}"}}, "resolving secret"},
		"missing file":   {[]Entry{{Name: "a", Key: "{file./no/such/key}"}}, "resolving secret"},
		"relative file":  {[]Entry{{Name: "a", Key: "{file.key}"}}, "a key is {env.NAME}"},
		"too short":      {[]Entry{{Name: "a", Key: "{env.SHORT_KEY}"}}, "8 to 256"},
		"too long":       {[]Entry{{Name: "a", Key: "{env.LONG_KEY}"}}, "8 to 256"},
		"with a space":   {[]Entry{{Name: "a", Key: "{env.SPACED_KEY}"}}, "8 to 256"},
		// Such a key was once accepted, and then every request with it was refused: a
		// comma separates the values of a header.
		"with a comma":    {[]Entry{{Name: "a", Key: "{env.LIST_KEY}"}}, "key a: a key has 8 to 256 printable ASCII characters, without spaces or commas"},
		"beyond ASCII":    {[]Entry{{Name: "a", Key: "{env.WIDE_KEY}"}}, "8 to 256"},
		"short digest":    {[]Entry{{Name: "a", Key: "sha256:abcd"}}, "64 hexadecimal digits"},
		"no prefix":       {[]Entry{{Name: "a", Key: hexOf(secret)[7:]}}, "a key is {env.NAME}"},
		"odd digest":      {[]Entry{{Name: "a", Key: "sha256:" + strings.Repeat("x", 64)}}, "64 hexadecimal digits"},
		"bad pattern":     {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Models: []string{"gpt 5"}}}, "pattern"},
		"empty pattern":   {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Models: []string{""}}}, "pattern"},
		"bad date":        {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Expires: "tomorrow"}}, "YYYY-MM-DD"},
		"impossible date": {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Expires: "2027-02-30"}}, "YYYY-MM-DD"},
		"bad network":     {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Networks: []string{"10.0.0.0/33"}}}, "a network is"},
		"bad owner":       {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Owner: "a b"}}, "an owner or a limit"},
		"bad limit":       {[]Entry{{Name: "a", Key: "{env.TEST_KEY}", Limit: "{small}"}}, "an owner or a limit"},
		"name twice":      {[]Entry{good, {Name: "good", Key: hexOf("another")}}, "key good is defined twice"},
		"key twice":       {[]Entry{good, {Name: "b", Key: "{env.SAME_KEY}"}}, "key b: has the same value as key good"},
		"digest of a key": {[]Entry{good, {Name: "b", Key: hexOf(secret)}}, "key b: has the same value as key good"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := provision(t, c.entries...)
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), secret)
			assert.NotContains(t, err.Error(), os.Getenv("SPACED_KEY"))
		})
	}
}

func TestShortAndExpiredKeysAreReportedByName(t *testing.T) {
	for name, c := range map[string]struct {
		entry Entry
		key   string
		want  []string
	}{
		"short":       {Entry{}, "sk-only-17-bytes-", []string{"key is short enough to be guessed"}},
		"long enough": {Entry{}, "sk-exactly-20-bytes-", nil},
		"expired":     {Entry{Expires: "2020-01-01"}, secret, []string{"key has expired"}},
		"will expire": {Entry{Expires: "9999-12-31"}, secret, nil},
	} {
		t.Run(name, func(t *testing.T) {
			core, logs := observer.New(zap.WarnLevel)
			t.Setenv("TEST_KEY", c.key)
			c.entry.Name, c.entry.Key = "alice", "{env.TEST_KEY}"
			require.NoError(t, newSet(t.Context(), zap.New(core)).add(c.entry, 0))
			var got []string
			for _, line := range logs.All() {
				got = append(got, line.Message)
				assert.Equal(t, "alice", line.ContextMap()["key"])
				assert.NotContains(t, line.ContextMap(), c.key)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	t.Setenv("TEST_KEY", secret)
	keys, err := provision(t, Entry{Name: "one", Key: "{env.TEST_KEY}"})
	require.NoError(t, err)
	digest := sumOf(secret)
	assert.Zero(t, testing.AllocsPerRun(100, func() { keys.Lookup(digest) }))
}
