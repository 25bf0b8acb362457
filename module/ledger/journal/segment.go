package journal

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A segment is a file of frames after a header: the magic text, and the last ID before
// the segment.
const (
	magic         = "gwjrnl1\n"
	segmentHeader = len(magic) + 8
	extension     = ".journal"
	damagedSuffix = ".bad" // of a damaged segment, which is kept
)

// segmentPath returns the name of a segment's file.
func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, extension))
}

// newSegmentHeader returns the header of a segment that follows an entry.
func newSegmentHeader(last ID) []byte {
	return binary.LittleEndian.AppendUint64([]byte(magic), uint64(last))
}

// parseSegmentHeader returns false if data does not begin with a header.
func parseSegmentHeader(data []byte) (last ID, ok bool) {
	if len(data) < segmentHeader || string(data[:len(magic)]) != magic {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint64(data[len(magic):])), true
}

// listSegments returns the numbers of the segments in a directory, in ascending order.
func listSegments(dir string) (numbers []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), extension)
		if number, err := strconv.ParseUint(name, 10, 64); ok && err == nil && !entry.IsDir() {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// damage describes bytes of a segment that are not frames.
type damage struct {
	offset, bytes int64
	torn          bool // the bytes are at the end of the segment: a write did not finish
}

// scan reads a segment of an earlier process, part after part.
type scan struct {
	visit func(Entry) // is called for each entry

	offset  int64 // up to here, the segment has been read
	last    ID    // before the segment
	size    int64 // up to the last entry; after end, without zeros behind it, which are left of a window after a crash
	torn    bool  // a byte behind the last entry is not zero
	damages []damage
}

// part reads the next part of the segment, which has room for a whole frame. It leaves the
// beginning of a frame that may continue in the next part.
func (s *scan) part(data []byte, isEnd bool) {
	if last, ok := parseSegmentHeader(data); ok && s.offset == 0 {
		s.last, s.offset, s.size = last, int64(segmentHeader), int64(segmentHeader)
		data = data[segmentHeader:]
	}
	for len(data) > 0 && (isEnd || len(data) >= maxFrame) {
		e, length := parseFrame(data)
		if length == 0 {
			s.torn = s.torn || data[0] != 0
			s.offset++
			data = data[1:]
			continue
		}
		s.skip(false)
		s.visit(e)
		s.offset += int64(length)
		s.size = s.offset
		data = data[length:]
	}
}

// end ends the last part.
func (s *scan) end() {
	if s.torn {
		s.skip(true)
	}
}

// skip adds the bytes behind the last entry to the damages.
func (s *scan) skip(torn bool) {
	if s.offset > s.size {
		s.damages = append(s.damages, damage{s.size, s.offset - s.size, torn})
	}
	s.size, s.torn = s.offset, false
}
