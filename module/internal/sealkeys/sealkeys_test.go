package sealkeys

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// memory is a storage with at most one key.
type memory struct {
	key    []byte
	err    error // of every method but Unlock
	locked int
}

func (m *memory) Lock(context.Context, string) error {
	m.locked++
	return m.err
}

func (m *memory) Unlock(context.Context, string) error {
	m.locked--
	return nil
}

func (m *memory) Load(context.Context, string) ([]byte, error) {
	if m.key == nil {
		return nil, fs.ErrNotExist
	}
	return m.key, m.err
}

func (m *memory) Store(_ context.Context, _ string, key []byte) error {
	m.key = key
	return m.err
}

func TestTheKeyIsMadeOnce(t *testing.T) {
	m := new(memory)
	first, err := storedKey(t.Context(), m)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(first), seal.MinKey)
	second, err := storedKey(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, first, second, "another machine of the cluster reads the same key")
	assert.Zero(t, m.locked)
}

func TestAShortKeyIsRefused(t *testing.T) {
	m := &memory{key: make([]byte, seal.MinKey-1)}
	_, err := storedKey(t.Context(), m)
	assert.ErrorIs(t, err, seal.ErrShortKey)
	assert.Len(t, m.key, seal.MinKey-1, "the key is not replaced, because it may have sealed reasoning")
	assert.Zero(t, m.locked)
}

func TestWithoutAStorageAKeyHoldsForTheConfiguration(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	ring := storedRing(&memory{err: errors.New("disk full")}, zap.New(core))
	assert.NotNil(t, ring.For("p", "t"))
	require.Equal(t, 1, logs.Len())
	assert.ErrorContains(t, logs.All()[0].Context[0].Interface.(error), "disk full")
}
