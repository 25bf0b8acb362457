package journal

import (
	"bytes"
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

// readSegment calls visit for each entry of a segment. It returns the damage, and the size of the
// segment without the zeros behind the last entry, which are left of a window after a crash.
func readSegment(data []byte, visit func(Entry)) (size int, damages []damage) {
	at := segmentHeader
	if _, ok := parseSegmentHeader(data); !ok {
		at = 0
	}
	for at < len(data) {
		e, length := parseFrame(data[at:])
		switch {
		case length > 0:
			at += length
			visit(e)
		case len(bytes.TrimLeft(data[at:], "\x00")) == 0:
			return at, damages
		default:
			skipped := nextFrame(data[at:])
			damages = append(damages, damage{int64(at), int64(skipped), at+skipped == len(data)})
			at += skipped
		}
	}
	return at, damages
}
