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

// A segment is a file. It begins with a header: the magic text and the last ID
// that was given before it.
const (
	magic         = "gwjrnl1\n"
	segmentHeader = len(magic) + 8
	extension     = ".journal"
	damaged       = ".bad" // added to the name of a segment that is kept
)

// segmentPath returns the name of a segment's file.
func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016d%s", number, extension))
}

func appendSegmentHeader(dst []byte, last ID) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, magic...), uint64(last))
}

// parseSegmentHeader returns false for what is no header.
func parseSegmentHeader(text []byte) (last ID, ok bool) {
	if len(text) < segmentHeader || string(text[:len(magic)]) != magic {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint64(text[len(magic):])), true
}

// listSegments returns the numbers of the segments of a directory, in their order.
func listSegments(dir string) (numbers []uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), extension)
		if number, err := strconv.ParseUint(name, 10, 64); ok && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// damage is bytes of a segment that are no frames.
type damage struct {
	Offset int64
	Bytes  int64
	Torn   bool // they are the end of the segment: a write that did not finish
}

// segmentContents calls visit for every frame in the text of a segment, with the
// offset behind it, and returns what is damaged.
func segmentContents(text []byte, visit func(e Entry, end int64)) (damages []damage) {
	at := segmentHeader
	if _, ok := parseSegmentHeader(text); !ok {
		at = 0
	}
	for at < len(text) {
		e, length := parseFrame(text[at:])
		if length == 0 {
			skipped := nextFrame(text[at:])
			damages = append(damages, damage{int64(at), int64(skipped), at+skipped == len(text)})
			at += skipped
			continue
		}
		at += length
		visit(e, int64(at))
	}
	return damages
}
