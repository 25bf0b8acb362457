package journal

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened opens a journal that is closed at the end of the test.
func opened(t testing.TB, o Options) (*Journal, []Entry) {
	t.Helper()
	j, unended, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	return j, unended
}

func begin(t testing.TB, j *Journal, payload string) ID {
	t.Helper()
	id, err := j.Begin([]byte(payload))
	require.NoError(t, err)
	return id
}

// read returns all entries after a position, each as "kind payload", and the position
// after them.
func read(t testing.TB, j *Journal, start Position) (texts []string, end Position) {
	t.Helper()
	for {
		end, err := j.Read(start, func(e Entry) { texts = append(texts, fmt.Sprint(e.Kind, " ", string(e.Payload))) })
		require.NoError(t, err)
		if end == start {
			return texts, end
		}
		start = end
	}
}

func TestEntriesAreReadBackInTheirOrder(t *testing.T) {
	j, unended := opened(t, Options{Dir: t.TempDir()})
	assert.Empty(t, unended)
	a, b := begin(t, j, "a"), begin(t, j, "b")
	assert.Less(t, a, b)
	require.NoError(t, j.End(b, []byte("B")))
	texts, end := read(t, j, Position{})
	assert.Equal(t, []string{"1 a", "1 b", "2 B"}, texts)

	require.NoError(t, j.End(a, nil))
	texts, end = read(t, j, end)
	assert.Equal(t, []string{"2 "}, texts)
	assert.Equal(t, j.State().End, end)
}

func TestWhatHasNotEndedIsKnownToTheNextProcess(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	a, b, c := begin(t, j, "a"), begin(t, j, "b"), begin(t, j, "c")
	require.NoError(t, j.End(b, nil))
	require.NoError(t, j.Close())

	j, unended := opened(t, Options{Dir: dir})
	assert.Equal(t, []Entry{{Begun, a, []byte("a")}, {Begun, c, []byte("c")}}, unended)
	require.NoError(t, j.End(a, nil))
	require.NoError(t, j.Close())

	_, unended = opened(t, Options{Dir: dir})
	assert.Equal(t, []Entry{{Begun, c, []byte("c")}}, unended)
}

// L039: a clock that is set back must not repeat an ID.
func TestL039IDsRiseAlthoughTheClockFalls(t *testing.T) {
	dir := t.TempDir()
	future := At(time.Now().Add(time.Hour))
	require.NoError(t, os.WriteFile(segmentPath(dir, 1), newSegmentHeader(future), 0o600))
	j, _ := opened(t, Options{Dir: dir})
	for i := range ID(1000) {
		assert.Equal(t, future+1+i, begin(t, j, ""))
	}
}

func TestL037ADirectoryHasOneProcess(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir})
	_, _, err := Open(Options{Dir: dir})
	assert.ErrorIs(t, err, ErrInUse)
	require.NoError(t, j.Close())
	opened(t, Options{Dir: dir})
}

func TestAClosedJournalWritesNothing(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir()})
	id := begin(t, j, "")
	require.NoError(t, j.Close())
	_, err := j.Begin(nil)
	assert.ErrorIs(t, err, ErrClosed)
	assert.ErrorIs(t, j.End(id, nil), ErrClosed)
}

func TestAFullJournalLetsNothingBeginAndAllEnd(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir(), Max: 200, SegmentSize: 100})
	id := begin(t, j, string(make([]byte, 200)))
	_, err := j.Begin(nil)
	assert.ErrorIs(t, err, ErrFull)
	require.NoError(t, j.End(id, nil))
	_, end := read(t, j, Position{})
	require.NoError(t, j.Release(end))
	begin(t, j, "there is room again")
}

// A segment is removed even if an entry that began in it is still open: a stream of
// several hours would otherwise keep all segments since it began.
func TestSegmentsAreReleasedWhileSomethingIsOpen(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir, SegmentSize: 256})
	long := begin(t, j, "long")
	for range 100 {
		require.NoError(t, j.End(begin(t, j, "short"), []byte("done")))
	}
	_, end := read(t, j, Position{})
	require.NoError(t, j.Release(end))
	left, err := listSegments(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
	require.NoError(t, j.Close())

	_, unended := opened(t, Options{Dir: dir})
	assert.Equal(t, []Entry{{Begun, long, []byte("long")}}, unended)
}

// Concurrent writers lose no entry and repeat none. An end comes after its beginning.
func TestManyWritersLoseAndDoubleNothing(t *testing.T) {
	const writers, each = 50, 200
	j, _ := opened(t, Options{Dir: t.TempDir(), SegmentSize: 4096})
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			for i := range each {
				id, err := j.Begin(nil)
				assert.NoError(t, err)
				assert.NoError(t, j.End(id, binary.AppendVarint(nil, int64(writer*each+i))))
			}
		})
	}
	begun, ended := make(map[ID]bool), make(map[int64]bool)
	visit := func(e Entry) {
		if e.Kind == Begun {
			begun[e.ID] = true
			return
		}
		n, _ := binary.Varint(e.Payload)
		assert.True(t, begun[e.ID], "the end came before the beginning")
		assert.False(t, ended[n], "the end came twice")
		ended[n] = true
	}
	var position Position
	for len(ended) < writers*each {
		<-j.Written()
		end, err := j.Read(position, visit)
		for ; err == nil && end != position; end, err = j.Read(position, visit) {
			position = end
		}
		require.NoError(t, err)
		require.NoError(t, j.Release(position))
	}
	wg.Wait()
	assert.Len(t, begun, writers*each)
	assert.Zero(t, j.State().Open)
}

// filled returns a segment with n entries of random lengths, and the ends of its frames.
func filled(n int) (data []byte, ends []int) {
	random := rand.New(rand.NewPCG(1, 2))
	data = newSegmentHeader(0)
	for i := range n {
		data = appendFrame(data, Entry{Ended, ID(i + 1), make([]byte, random.IntN(40))})
		ends = append(ends, len(data))
	}
	return data, ends
}

func TestL030ASegmentThatIsCutKeepsItsWholeEntries(t *testing.T) {
	data, ends := filled(8)
	for cut := range len(data) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(segmentPath(dir, 1), data[:cut], 0o600))
		j, _, err := Open(Options{Dir: dir})
		require.NoError(t, err, cut)
		whole, _ := slices.BinarySearch(ends, cut+1)
		texts, end := read(t, j, Position{})
		assert.Len(t, texts, whole, cut)
		begin(t, j, "goes on")
		texts, _ = read(t, j, end)
		assert.Equal(t, []string{"1 goes on"}, texts, cut)
		require.NoError(t, j.Close())
	}
}

func TestL031DamagedBytesArePassedOverAndKept(t *testing.T) {
	data, ends := filled(8)
	for offset := len(newSegmentHeader(0)); offset < ends[6]; offset++ {
		dir := t.TempDir()
		corrupted := slices.Clone(data)
		corrupted[offset] ^= 0x10
		require.NoError(t, os.WriteFile(segmentPath(dir, 1), corrupted, 0o600))
		j, _, err := Open(Options{Dir: dir})
		require.NoError(t, err, offset)
		begin(t, j, "goes on")
		texts, end := read(t, j, Position{})
		assert.Len(t, texts, 7+1, offset)
		require.NoError(t, j.Release(end))
		kept, err := os.ReadFile(segmentPath(dir, 1) + damagedSuffix)
		require.NoError(t, err, offset)
		assert.Equal(t, corrupted, kept)
		assert.NoFileExists(t, segmentPath(dir, 1))
		require.NoError(t, j.Close())
	}
}

// A read may end within a frame, and within damaged bytes. Once a segment that an earlier
// process left, of 64 MB, was read at once.
func TestLargeSegmentsAreReadInParts(t *testing.T) {
	dir := t.TempDir()
	data := newSegmentHeader(0)
	const entries = 100
	hole := damage{bytes: 3 * readSize}
	for i := range entries {
		data = appendFrame(data, Entry{Ended, ID(i + 1), make([]byte, MaxPayload-i)})
		if i == entries/2 {
			hole.offset = int64(len(data))
			data = append(data, make([]byte, hole.bytes)...)
		}
	}
	require.NoError(t, os.WriteFile(segmentPath(dir, 1), data, 0o600))
	var damages []damage
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	j, _ := opened(t, Options{Dir: dir, Damaged: func(_ string, offset, bytes int64) { damages = append(damages, damage{offset: offset, bytes: bytes}) }})
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3*readSize), "of a segment of nine; the race detector doubles one part")
	assert.Equal(t, []damage{hole}, damages)
	texts, _ := read(t, j, Position{})
	assert.Len(t, texts, entries)
}

func TestJournalIsReadableForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j, _ := opened(t, Options{Dir: dir})
	begin(t, j, "")
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		return err
	}))
}

func FuzzSegment(f *testing.F) {
	data, _ := filled(4)
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(segmentPath(dir, 1), data, 0o600))
		j, _, err := Open(Options{Dir: dir})
		require.NoError(t, err)
		defer j.Close()
		read(t, j, Position{})
		begin(t, j, "goes on")
	})
}

// Of both entries of a request, the journal keeps only the payload of the beginning.
func TestAnEntryAllocatesOnlyItsPayload(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir()})
	payload := make([]byte, 180)
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		id, _ := j.Begin(payload)
		_ = j.End(id, payload)
	}), 1.0)
}

func BenchmarkBeginEnd(b *testing.B) {
	j, _ := opened(b, Options{Dir: b.TempDir()})
	payload := make([]byte, 180)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id, _ := j.Begin(payload[:120])
			_ = j.End(id, payload)
		}
	})
}

// The current segment is never removed: a journal whose largest size was below one segment
// once stayed full although all its entries had been read.
func TestAJournalHasRoomForSeveralSegments(t *testing.T) {
	j, _ := opened(t, Options{Dir: t.TempDir(), Max: 4096})
	var full error
	for full == nil {
		var id ID
		if id, full = j.Begin(nil); full == nil {
			require.NoError(t, j.End(id, make([]byte, 100)))
		}
	}
	require.ErrorIs(t, full, ErrFull)
	_, end := read(t, j, Position{})
	require.NoError(t, j.Release(end))
	begin(t, j, "there is room again")
}

// Copies of many open entries are not a reason to begin another segment with each write.
func TestOpenEntriesDoNotCountAsWritten(t *testing.T) {
	dir := t.TempDir()
	j, _ := opened(t, Options{Dir: dir, SegmentSize: 1000})
	for range 100 {
		begin(t, j, "an entry that stays open")
	}
	segments, err := listSegments(dir)
	require.NoError(t, err)
	assert.Less(t, len(segments), 8)
}
