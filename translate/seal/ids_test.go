package seal_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

var (
	oldKey, newKey = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	account        = seal.AccountOf("openai", 0)
)

// An id that a client gets is the same at each retrieval: clients compare ids.
func TestAnIDIsSealedAlikeEveryTime(t *testing.T) {
	ids := ring(t, newKey).IDs("key:a")
	first := ids.Append(nil, seal.ResponseID, account, []byte("resp_0123"))
	assert.Equal(t, first, ring(t, newKey).IDs("key:a").Append(nil, seal.ResponseID, account, []byte("resp_0123")))
	assert.NotContains(t, string(first), "0123")
	got, id, ok := ids.Open(seal.ResponseID, first)
	assert.True(t, ok)
	assert.Equal(t, account, got)
	assert.Equal(t, "resp_0123", string(id))
}

// Only the tenant of an object can name it: other gateways have let any key read what another
// key had stored.
func TestAnIDOpensForItsTenantAndItsKindOnly(t *testing.T) {
	r := ring(t, newKey)
	sealed := r.IDs("key:a").Append(nil, seal.ResponseID, account, []byte("resp_0123"))
	for name, try := range map[string]func() bool{
		"another tenant": func() bool { _, _, ok := r.IDs("key:b").Open(seal.ResponseID, sealed); return ok },
		"no tenant":      func() bool { _, _, ok := r.IDs("").Open(seal.ResponseID, sealed); return ok },
		"another kind":   func() bool { _, _, ok := r.IDs("key:a").Open(seal.ConversationID, sealed); return ok },
		"another kind by its prefix": func() bool {
			_, _, ok := r.IDs("key:a").Open(seal.ConversationID, append([]byte(seal.ConversationID), sealed[len(seal.ResponseID):]...))
			return ok
		},
		"another key": func() bool { _, _, ok := ring(t, oldKey).IDs("key:a").Open(seal.ResponseID, sealed); return ok },
		"the id of the provider": func() bool {
			_, _, ok := r.IDs("key:a").Open(seal.ResponseID, []byte("resp_0123"))
			return ok
		},
	} {
		assert.False(t, try(), name)
	}
}

func TestASealedIDCannotBeChanged(t *testing.T) {
	ids := ring(t, newKey).IDs("key:a")
	sealed := ids.Append(nil, seal.ResponseID, account, []byte("resp_0123"))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		_, _, ok := ids.Open(seal.ResponseID, changed)
		assert.False(t, ok, i)
		_, _, ok = ids.Open(seal.ResponseID, sealed[:i])
		assert.False(t, ok, i)
	}
	_, _, ok := ids.Open(seal.ResponseID, append(bytes.Clone(sealed), 'A'))
	assert.False(t, ok)
	_, _, ok = ids.Open(seal.ResponseID, []byte("resp_1"+strings.Repeat("A", 1<<20)))
	assert.False(t, ok)
}

// What an older key has sealed still opens after the key was replaced.
func TestAnOlderKeyOpensIDs(t *testing.T) {
	sealed := ring(t, oldKey).IDs("key:a").Append(nil, seal.ResponseID, account, []byte("resp_0123"))
	_, id, ok := ring(t, newKey, oldKey).IDs("key:a").Open(seal.ResponseID, sealed)
	assert.True(t, ok)
	assert.Equal(t, "resp_0123", string(id))
}

// Applications store ids in columns of 255 characters, and write them into URLs.
func TestX010SealedIDsFitIntoURLsAndColumns(t *testing.T) {
	plain := regexp.MustCompile(`^resp_[A-Za-z0-9_-]+$`)
	ids := ring(t, newKey).IDs("user:ünïcode \x00")
	for _, prefix := range []string{"resp_", "", "response-", "resp_resp_"} {
		for length := range 91 {
			id := prefix + strings.Repeat("é/", 46)[:length]
			sealed := ids.Append(nil, seal.ResponseID, account, []byte(id))
			assert.Regexp(t, plain, string(sealed))
			assert.Less(t, len(sealed), 256)
			_, opened, ok := ids.Open(seal.ResponseID, sealed)
			assert.True(t, ok)
			assert.Equal(t, id, string(opened))
		}
	}
}

func TestEachAPIKeyHasAnAccount(t *testing.T) {
	assert.NotEqual(t, seal.AccountOf("a", 0), seal.AccountOf("a", 1))
	assert.NotEqual(t, seal.AccountOf("a", 0), seal.AccountOf("b", 0))
}
