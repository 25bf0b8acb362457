//go:build linux || darwin

package journal

import (
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limitFiles limits the size of files that this process writes. As on a full disk, a write
// then ends in the middle of a frame, with an error.
func limitFiles(t *testing.T, bytes uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	t.Cleanup(func() { assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) })
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}))
}

func TestL032AFullDiskLosesNothing(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	a, b := begin(t, j, "a"), begin(t, j, "b")
	t.Run("full", func(t *testing.T) {
		limitFiles(t, uint64(j.State().End.Offset)+10)
		_, err := j.Begin([]byte("refused"))
		assert.ErrorIs(t, err, syscall.EFBIG)
		assert.Error(t, j.End(a, []byte("A")))
		_, err = j.Begin([]byte("refused"))
		assert.Error(t, err, "Begin fails while an end is delayed")
		assert.Equal(t, State{Bytes: j.State().Bytes, End: j.State().End, Open: 1, Delayed: 1}, j.State())
	})
	require.NoError(t, j.End(b, []byte("B")))
	texts, _ := read(t, j, Position{})
	assert.Equal(t, []string{"1 a", "1 b", "2 A", "2 B"}, texts)
	require.NoError(t, j.Close())
	_, unended := opened(t, Options{Dir: dir})
	assert.Empty(t, unended)
}
