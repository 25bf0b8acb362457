package journal

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
)

// Position is a place between entries: behind Offset bytes of a segment. The zero
// Position is before all.
type Position struct {
	Segment uint64
	Offset  int64
}

// Before reports whether p is before q.
func (p Position) Before(q Position) bool {
	return cmp.Or(cmp.Compare(p.Segment, q.Segment), cmp.Compare(p.Offset, q.Offset)) < 0
}

// readSize is how much is read at once, in bytes, beside one more entry.
const readSize = 1 << 20

// Written has an element when there may be more to read.
func (j *Journal) Written() <-chan struct{} { return j.written }

// Read calls visit for the entries behind a position, in their order, at most for
// about a megabyte, and returns the position behind the last of them. That is
// the position itself if there are no more. Entries that were open when a segment
// began are read again there.
func (j *Journal) Read(from Position, visit func(Entry)) (Position, error) {
	for {
		s, ok := j.segmentAt(from)
		if !ok {
			return from, nil
		}
		if s.number != from.Segment {
			from = Position{s.number, int64(segmentHeader)}
		}
		text, err := readAt(segmentPath(j.options.Dir, s.number), from.Offset, s.size)
		if err != nil {
			return from, err
		}
		read, found := visitFrames(text, from.Offset+int64(len(text)) == s.size, visit)
		from.Offset += int64(read)
		if found {
			return from, nil
		}
	}
}

// segmentAt returns the segment with the first byte behind a position.
func (j *Journal) segmentAt(from Position) (segment, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		if s.number == from.Segment && from.Offset < s.size || s.number > from.Segment && s.size > int64(segmentHeader) {
			return s, true
		}
	}
	return segment{}, false
}

func readAt(path string, offset, end int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := make([]byte, min(end-offset, readSize+largest))
	_, err = io.ReadFull(io.NewSectionReader(file, offset, end-offset), text)
	return text, err
}

// largest is the size of the largest frame.
const largest = frameHeader + bodyHeader + MaxPayload

// visitFrames calls visit for the whole frames in a part of a segment, and returns
// how many bytes are done with, at least one. It passes over what is damaged.
func visitFrames(text []byte, isEnd bool, visit func(Entry)) (read int, found bool) {
	for read < len(text) {
		e, length := parseFrame(text[read:])
		if length == 0 {
			if found && !isEnd && read > len(text)-largest {
				break // a frame of which the rest follows
			}
			return read + damagedBytes(text[read:], isEnd), found
		}
		visit(e)
		found = true
		read += length
	}
	return read, found
}

// damagedBytes returns how many bytes to pass over. The end of a part may be the
// beginning of a frame, unless the segment ends there.
func damagedBytes(text []byte, isEnd bool) int {
	skipped := nextFrame(text)
	if skipped == len(text) && !isEnd {
		return max(1, len(text)-largest)
	}
	return skipped
}

// Release gives the segments before a position free: all of their entries are done
// with. A damaged one is kept under another name.
func (j *Journal) Release(before Position) error {
	j.mu.Lock()
	i := slices.IndexFunc(j.segments, func(s segment) bool { return s.number >= before.Segment })
	var gone []segment
	if i > 0 { // the last segment stays
		gone = slices.Clone(j.segments[:min(i, len(j.segments)-1)])
		j.segments = slices.Delete(j.segments, 0, len(gone))
	}
	j.mu.Unlock()
	var errs []error
	for _, s := range gone {
		path := segmentPath(j.options.Dir, s.number)
		if s.damaged {
			errs = append(errs, os.Rename(path, path+damaged))
		} else {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// State is what a Journal holds at the moment.
type State struct {
	Bytes int64    // of all segments
	End   Position // behind the last entry
	Open  int      // what has begun and not ended
	Late  int      // ends that wait for room on the disk
}

// State returns what the journal holds.
func (j *Journal) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.segments[len(j.segments)-1]
	return State{j.size(), Position{last.number, last.size}, len(j.open), len(j.late)}
}

// Wake puts an element into Written although nothing was.
func (j *Journal) Wake() {
	select {
	case j.written <- struct{}{}:
	default: // there is one
	}
}
