package seal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

var (
	first  = bytes.Repeat([]byte("1"), seal.MinKey)
	second = bytes.Repeat([]byte("2"), seal.MinKey)
)

// ring returns a ring of keys.
func ring(t testing.TB, current []byte, older ...[]byte) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(current, older...)
	require.NoError(t, err)
	return r
}

const payload = "rs_1.4,7.gAAAAABo-secret"

func TestWhatWasSealedOpens(t *testing.T) {
	s := ring(t, first).For("openai", "team")
	for _, kind := range []string{seal.Item, seal.Block} {
		sealed := s.Append([]byte("x"), kind, []byte(payload))[1:]
		assert.True(t, strings.HasPrefix(string(sealed), kind))
		got, ok := s.Open(kind, sealed)
		assert.True(t, ok)
		assert.Equal(t, payload, string(got))
		assert.Equal(t, sealed, s.Append(nil, kind, []byte(payload)), "the same every time")
	}
	empty, ok := s.Open(seal.Item, s.Append(nil, seal.Item, nil))
	assert.True(t, ok)
	assert.Empty(t, empty)
}

func TestASealerThatOnlySealsOpensNothing(t *testing.T) {
	s := ring(t, first).For("openai", "team")
	sealed := s.SealOnly().Append(nil, seal.Item, []byte(payload))
	assert.Equal(t, s.Append(nil, seal.Item, []byte(payload)), sealed)
	_, ok := s.SealOnly().Open(seal.Item, sealed)
	assert.False(t, ok)
}

// TestNoByteOfASealCanBeChanged ensures that a client gets nothing into a seal that
// the gateway did not put there.
func TestNoByteOfASealCanBeChanged(t *testing.T) {
	s := ring(t, first).For("openai", "team")
	sealed := s.Append(nil, seal.Item, []byte(payload))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		_, ok := s.Open(seal.Item, changed)
		assert.False(t, ok, "byte %d", i)
		_, ok = s.Open(seal.Item, sealed[:i])
		assert.False(t, ok, "cut at byte %d", i)
	}
	_, ok := s.Open(seal.Item, append(sealed, 'x'))
	assert.False(t, ok)
}

// TestASealOpensOnlyWhereItWasMade ensures that reasoning goes back only to the provider
// and the tenant that it came from: otherwise the holder of another tenant's sealed text
// could ask a model to repeat the reasoning.
func TestASealOpensOnlyWhereItWasMade(t *testing.T) {
	r := ring(t, first)
	sealed := r.For("openai", "team").Append(nil, seal.Item, []byte(payload))
	for name, s := range map[string]*seal.Sealer{
		"another tenant":                   r.For("openai", "others"),
		"another provider":                 r.For("azure", "team"),
		"names that are divided elsewhere": r.For("openai4 te", "am"),
		"another key":                      ring(t, second).For("openai", "team"),
	} {
		_, ok := s.Open(seal.Item, sealed)
		assert.False(t, ok, name)
	}
	_, ok := r.For("openai", "team").Open(seal.Block, sealed)
	assert.False(t, ok, "another kind")
	other := append([]byte(seal.Block), sealed[len(seal.Item):]...)
	_, ok = r.For("openai", "team").Open(seal.Block, other)
	assert.False(t, ok, "of another kind than it says")
}

// TestAnOlderKeyStillOpens ensures that replacing a key does not break the
// conversations that run.
func TestAnOlderKeyStillOpens(t *testing.T) {
	sealed := ring(t, first).For("openai", "team").Append(nil, seal.Item, []byte(payload))
	s := ring(t, second, first).For("openai", "team")
	got, ok := s.Open(seal.Item, sealed)
	assert.True(t, ok)
	assert.Equal(t, payload, string(got))
	assert.NotEqual(t, sealed, s.Append(nil, seal.Item, []byte(payload)), "the current key seals")
}

func TestShortKeysAreRefused(t *testing.T) {
	_, err := seal.NewRing(first[1:])
	require.ErrorIs(t, err, seal.ErrShortKey)
	_, err = seal.NewRing(first, nil)
	require.ErrorIs(t, err, seal.ErrShortKey)
	assert.EqualError(t, err, "the key of seals is too short: key 2 has 0 bytes, and must have 16")
}

func FuzzOpen(f *testing.F) {
	s := ring(f, first).For("openai", "team")
	f.Add(s.Append(nil, seal.Item, []byte(payload)))
	f.Add([]byte("gwrs1:.x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, ok := s.Open(seal.Item, text); ok {
			require.Equal(t, text, s.Append(nil, seal.Item, got), "whatever opens was sealed")
		}
	})
}
