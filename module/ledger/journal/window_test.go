package journal

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// A process that is killed leaves the unused rest of a window, which is no damage.
func TestTheRestOfAWindowIsNoDamage(t *testing.T) {
	src, dst := t.TempDir(), t.TempDir()
	first, _ := opened(t, Options{Dir: src})
	a := begin(t, first, "a")
	begin(t, first, "b\x00\x00")
	require.NoError(t, first.End(a, make([]byte, 100)))
	require.NoError(t, Copy(src, dst, 1))

	core, logs := observer.New(zap.DebugLevel)
	second, unended := opened(t, Options{Dir: dst, Logger: zap.New(core)})
	assert.Len(t, unended, 1)
	texts, end := read(t, second, Position{})
	assert.Equal(t, []string{"1 a", "1 b\x00\x00", "2 " + string(make([]byte, 100)), "1 b\x00\x00"}, texts)
	assert.Equal(t, second.State().End, end)
	assert.Empty(t, logs.All())
	require.NoError(t, second.Release(end))
	assert.NoFileExists(t, segmentPath(dst, 1))
}

// A segment has only entries when the process has ended it.
func TestAClosedSegmentEndsWithItsLastEntry(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	begin(t, j, "a")
	end := j.State().End
	require.NoError(t, j.Close())
	info, err := os.Stat(segmentPath(dir, 1))
	require.NoError(t, err)
	assert.Equal(t, end.Offset, info.Size())
}

// The memory of a file that another process makes shorter would end this one.
func TestASegmentThatIsEmptiedDoesNotEndTheProcess(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	id := begin(t, j, "a")
	require.NoError(t, os.Truncate(segmentPath(dir, 1), 0))
	if j.writer.file.window.memory != nil {
		_, err := j.Begin([]byte("not written"))
		assert.Error(t, err)
	}
	begin(t, j, "b")
	assert.NoError(t, j.End(id, nil))
	require.NoError(t, j.Close())
	_, unended := opened(t, Options{Dir: dir})
	require.Len(t, unended, 1)
	assert.Equal(t, "b", string(unended[0].Payload))
}

// Memory takes entries although the disk behind it does not.
func TestAFailedSyncEndsTheWindow(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir(), SyncEvery: time.Hour})
	begin(t, j, "a")
	reader, unsynced, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	j.writer.file.file, unsynced = unsynced, j.writer.file.file
	j.writeAndSync()
	_, err = j.Begin([]byte("b"))
	assert.Error(t, err)
	require.NoError(t, j.writer.file.file.Close())
	j.writer.file.file, j.writer.file.broken = unsynced, false
}
