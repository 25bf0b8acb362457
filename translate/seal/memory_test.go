package seal_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

func TestSignaturesAreRememberedForTheirProviderAndTenant(t *testing.T) {
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	ring.For("p", "t").Remember([]byte("f1"), []byte("s1"))
	assert.Equal(t, []byte("s1"), ring.For("p", "t").Recall([]byte("f1")))
	for name, s := range map[string]*seal.Sealer{
		"another provider": ring.For("q", "t"), "another tenant": ring.For("p", "u"), "none": nil,
		"one whose reasoning the provider has refused": ring.For("p", "t").SealOnly(),
	} {
		assert.Nil(t, s.Recall([]byte("f1")), name)
	}
	assert.Nil(t, ring.For("p", "t").Recall([]byte("f2")))
	ring.For("p", "t").Remember(nil, []byte("s"))
	assert.Nil(t, ring.For("p", "t").Recall(nil), "a call without an id")
}

func TestTheMemoryOfSignaturesIsBounded(t *testing.T) {
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	s := ring.For("p", "t")
	long := bytes.Repeat([]byte("s"), 10<<10)
	const calls = 2000 // 20 MB
	known := 0
	for i := range calls {
		s.Remember(strconv.AppendInt(nil, int64(i), 10), long)
	}
	for i := range calls {
		if s.Recall(strconv.AppendInt(nil, int64(i), 10)) != nil {
			known++
		}
	}
	assert.NotNil(t, s.Recall([]byte("1999")), "the last one is known")
	assert.Less(t, known*len(long), 9<<20)
	assert.Greater(t, known*len(long), 3<<20)

	s.Remember([]byte("f"), make([]byte, seal.MaxRemembered))
	assert.Nil(t, s.Recall([]byte("f")), "one that is too long")
}
