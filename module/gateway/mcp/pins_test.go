package mcp

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// memory is a storage in memory.
type memory map[string][]byte

func (memory) Lock(context.Context, string) error   { return nil }
func (memory) Unlock(context.Context, string) error { return nil }

func (m memory) Load(_ context.Context, name string) ([]byte, error) {
	if text, ok := m[name]; ok {
		return text, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) Store(_ context.Context, name string, text []byte) error {
	m[name] = text
	return nil
}

// A reading of the storage between a change and the end of its list dropped the change, and clients could call
// the tool.
func TestAChangeOutlastsAReadingBeforeItIsStored(t *testing.T) {
	s := &Server{pins: newPins(&Config{Name: "a", Pin: Block}, memory{}, zap.NewNop())}
	for _, c := range []struct {
		definition string
		kept       bool
	}{{`{"name":"x"}`, true}, {`{"name":"x","description":"d"}`, false}} {
		list := s.Compare()
		assert.Equal(t, c.kept, list.Keeps("x", []byte(c.definition)))
		_, _, err := s.Pinned() // another request
		require.NoError(t, err)
		list.End()
		assert.Equal(t, c.kept, s.Callable("x"))
	}
	tools, err := s.Accept("")
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, tools)
	assert.True(t, s.Callable("x"))
}
