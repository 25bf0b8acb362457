//go:build linux || darwin

package journal

import (
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limitFiles limits the size of files that this process writes. As on a full disk, a write
// then ends in the middle of a frame, with an error. The limit also applies to the file to
// which the go command writes the log of this process: write a longer journal first, see longer.
func limitFiles(t *testing.T, bytes int64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	t.Cleanup(func() { assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) })
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(bytes), Max: before.Max}))
}

// longer writes more entries than the log of the go command is long, and returns the
// position after them. It closes the window of the segment, which has room on a full disk.
func longer(t *testing.T, j *Journal) Position {
	t.Helper()
	for j.Size() < 4<<20 {
		require.NoError(t, j.End(begin(t, j, ""), make([]byte, MaxPayload)))
	}
	require.NoError(t, j.writer.file.trim())
	return j.State().End
}

// What is confirmed has room on the disk: a full disk is an error at the end of a window.
func TestAFullDiskEndsAWindow(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	start := longer(t, j)
	j.writer.file.plain = false
	wrote := 0
	write := func() error {
		id, err := j.Begin(make([]byte, MaxPayload))
		if err != nil {
			return err
		}
		wrote++
		return j.End(id, nil)
	}
	require.NoError(t, write())
	t.Run("full", func(t *testing.T) {
		limitFiles(t, j.State().End.Offset+10)
		var full error
		for full == nil {
			full = write()
		}
		assert.ErrorIs(t, full, syscall.EFBIG)
	})
	for range 100 {
		require.NoError(t, write())
	}
	texts, _ := read(t, j, start)
	assert.Len(t, texts, 2*wrote)
}

func TestL032AFullDiskLosesNothing(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	start := longer(t, j)
	a, b := begin(t, j, "a"), begin(t, j, "b")
	t.Run("full", func(t *testing.T) {
		limitFiles(t, j.State().End.Offset+10)
		_, err := j.Begin([]byte("refused"))
		assert.ErrorIs(t, err, syscall.EFBIG)
		assert.Error(t, j.End(a, []byte("A")))
		_, err = j.Begin([]byte("refused"))
		assert.Error(t, err, "Begin fails while an end is delayed")
		assert.Equal(t, State{Bytes: j.State().Bytes, End: j.State().End, Open: 1, Delayed: 1}, j.State())
	})
	require.NoError(t, j.End(b, []byte("B")))
	texts, _ := read(t, j, start)
	assert.Equal(t, []string{"1 a", "1 b", "2 A", "2 B"}, texts)
	require.NoError(t, j.Close())
	_, unended := opened(t, Options{Dir: dir})
	assert.Empty(t, unended)
}

// A full disk once stayed full until a restart: the current segment, which had used it up,
// was only removed when a new one began, and that needed room.
func TestADiskThatTheJournalHasFilledIsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	longer(t, j)
	a := begin(t, j, "a")
	begin(t, j, "b")
	limitFiles(t, j.State().End.Offset+10)
	require.Error(t, j.End(a, []byte("A")))
	_, end := read(t, j, Position{})
	require.NoError(t, j.Release(end))
	assert.Equal(t, State{Bytes: j.State().Bytes, End: j.State().End, Open: 1}, j.State(), "the end is written")
	texts, _ := read(t, j, end)
	assert.Equal(t, []string{"1 b", "2 A"}, texts)
	segments, err := listSegments(dir)
	require.NoError(t, err)
	assert.Equal(t, []uint64{2}, segments)
}

// noSegment makes it impossible to begin a segment until the test ends.
func noSegment(t *testing.T, dir string, number uint64) {
	t.Helper()
	require.NoError(t, os.Mkdir(segmentPath(dir, number), 0o700))
	t.Cleanup(func() { assert.NoError(t, os.Remove(segmentPath(dir, number))) })
}

// Without room for another file, the entries of the current one make room. Its number is not
// used again: a reader that has read the file would take the entries of another for read.
func TestADiskWithoutRoomForASegmentIsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	longer(t, j)
	a := begin(t, j, "a")
	begin(t, j, "b")
	var end Position
	t.Run("full", func(t *testing.T) {
		noSegment(t, dir, 2)
		limitFiles(t, j.State().End.Offset)
		require.Error(t, j.End(a, []byte("A")))
		_, end = read(t, j, Position{})
		require.NoError(t, j.Release(end))
		assert.EqualValues(t, segmentHeader, j.State().Bytes)
		_, err := j.Begin(nil)
		require.Error(t, err)
		require.NoError(t, j.Release(end))
	})
	require.NoError(t, j.Release(end))
	begin(t, j, "c")
	texts, end := read(t, j, end)
	assert.Equal(t, []string{"1 b", "2 A", "1 c"}, texts)
	require.NoError(t, j.Release(end))
	require.NoError(t, j.Close())
	segments, err := listSegments(dir)
	require.NoError(t, err)
	assert.Equal(t, []uint64{2}, segments)
}

// The journal of a full disk once did not open, so that a gateway that only misses its
// records did not start.
func TestAJournalOpensOnAFullDisk(t *testing.T) {
	for name, earlier := range map[string][]string{"new": nil, "with entries": {"a"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			next := uint64(1)
			if earlier != nil {
				first, _ := opened(t, Options{Dir: dir})
				begin(t, first, earlier[0])
				require.NoError(t, first.Close())
				next = 2
			}
			var j *Journal
			var end Position
			t.Run("full", func(t *testing.T) {
				noSegment(t, dir, next)
				var unended []Entry
				var err error
				j, unended, err = Open(Options{Dir: dir})
				require.NoError(t, err)
				assert.Len(t, unended, len(earlier))
				_, end = read(t, j, Position{})
				require.NoError(t, j.Release(end))
				_, err = j.Begin([]byte("refused"))
				assert.ErrorIs(t, err, os.ErrExist)
			})
			t.Cleanup(func() { assert.NoError(t, j.Close()) })
			require.NoError(t, j.Release(end))
			begin(t, j, "b")
			texts, _ := read(t, j, end)
			want := []string{"1 b"}
			if earlier != nil {
				want = []string{"1 a", "1 b"}
			}
			assert.Equal(t, want, slices.Compact(texts), "an entry may be written again with the segment")
		})
	}
}

// fill writes ends until the disk is full, and returns their number.
func fill(j *Journal) (ends int) {
	for ; ; ends++ {
		id, err := j.Begin(nil)
		if err != nil {
			return ends
		}
		if err := j.End(id, make([]byte, 1_000)); err != nil {
			return ends + 1
		}
	}
}

// A disk of 300 kB was full, and 10,000 requests were refused. Each left an end that waited, and all
// of them were more than the disk: written at once, they failed for ever, and only a restart helped.
func TestMoreEndsThanADiskHasRoomForAreWrittenInParts(t *testing.T) {
	for name, test := range map[string]struct{ refused, smallest, largest int }{
		"as many as a disk holds":     {1_000, 100, 100},
		"many times the disk":         {10_000, 200, 200},
		"of different sizes":          {2_000, 0, 5_000},
		"each of them a part of disk": {20, MaxPayload, MaxPayload},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := opened(t, Options{Dir: t.TempDir()})
			limitFiles(t, 300_000)
			wrote := fill(j)
			for i := range test.refused {
				id, err := j.Begin(make([]byte, 1_000))
				require.Error(t, err)
				_ = j.End(id, make([]byte, test.smallest+i%(test.largest-test.smallest+1)))
			}
			ended, position := 0, Position{}
			for range 20 { // each time that the readers have everything, a part more is written
				var err error
				for before := (Position{Segment: ^uint64(0)}); before != position && err == nil; {
					before = position
					position, err = j.Read(before, func(e Entry) { ended += int(e.Kind - Begun) })
				}
				require.NoError(t, err)
				require.NoError(t, j.Release(position))
				if j.State().Delayed == 0 && !position.Before(j.State().End) {
					break
				}
			}
			assert.Equal(t, wrote+test.refused, ended, "each once")
			assert.Zero(t, j.State().Delayed)
			begin(t, j, "and requests are recorded again")
		})
	}
}

// A request on a full disk built the frames of all ends that waited.
func TestARequestOnAFullDiskCostsNoMoreWithManyWaiting(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir()})
	limitFiles(t, 300_000)
	fill(j)
	refused := func(n int) (allocated uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			id, err := j.Begin(make([]byte, 100))
			require.Error(t, err)
			require.Error(t, j.End(id, make([]byte, 100)))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	refused(10_000)
	assert.Less(t, refused(100), uint64(5<<20))
}
