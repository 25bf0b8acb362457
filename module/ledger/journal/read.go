package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Position is a place between two entries: after Offset bytes of a segment. The zero
// Position is before all entries.
type Position struct {
	Segment uint64
	Offset  int64
}

// Before reports whether p is before q.
func (p Position) Before(q Position) bool {
	return cmp.Or(cmp.Compare(p.Segment, q.Segment), cmp.Compare(p.Offset, q.Offset)) < 0
}

// readSize is the size of one read in bytes, without the last entry.
const readSize = 1 << 20

// Written returns a channel that has an element when there may be more to read.
func (j *Journal) Written() <-chan struct{} { return j.reader.written }

// Read calls visit for the entries after a position, in the order in which they were
// written. It reads about a megabyte at most, and returns the position after the last
// entry, or the given position if there are no more entries. Entries that were open when
// a segment began are read again in that segment. One goroutine at a time may read.
func (j *Journal) Read(start Position, visit func(Entry)) (Position, error) {
	return j.ReadWhile(start, func(e Entry) bool {
		visit(e)
		return true
	})
}

// ReadWhile is Read, but ends after the entry for which visit returns false.
func (j *Journal) ReadWhile(start Position, visit func(Entry) (more bool)) (Position, error) {
	for {
		s, ok := j.segmentAt(start)
		if !ok {
			return start, nil
		}
		if s.number != start.Segment {
			start = Position{s.number, int64(segmentHeader)}
		}
		data, err := j.reader.read(segmentPath(j.options.Dir, s.number), start.Offset, s.size)
		if err != nil {
			return start, err
		}
		read, found := visitFrames(data, start.Offset+int64(len(data)) == s.size, visit)
		start.Offset += int64(read)
		if found {
			return start, nil
		}
	}
}

// segmentAt returns the segment with the first byte after a position.
func (j *Journal) segmentAt(position Position) (segment, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.segments {
		if s.number == position.Segment && position.Offset < s.size || s.number > position.Segment && s.size > int64(segmentHeader) {
			return s, true
		}
	}
	return segment{}, false
}

// read reads a part of a segment to the memory of the read before.
func (r *reader) read(path string, offset, end int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size := int(min(end-offset, readSize+maxFrame))
	r.memory = slices.Grow(r.memory[:0], size)[:size]
	_, err = io.ReadFull(io.NewSectionReader(file, offset, int64(size)), r.memory)
	return r.memory, err
}

// maxFrame is the size of the largest frame.
const maxFrame = frameHeader + bodyHeader + MaxPayload

// visitFrames calls visit for the whole frames in a part of a segment, and skips damaged
// bytes, until visit returns false. It returns the number of bytes up to which the part is
// read, at least one.
func visitFrames(data []byte, isEnd bool, visit func(Entry) (more bool)) (read int, found bool) {
	for read < len(data) {
		e, length := parseFrame(data[read:])
		if length == 0 {
			if found && !isEnd && read > len(data)-maxFrame {
				break // the rest of this frame may be in the next part
			}
			return read + damagedBytes(data[read:], isEnd), found
		}
		found = true
		read += length
		if !visit(e) {
			break
		}
	}
	return read, found
}

// damagedBytes returns the number of bytes to skip. The last bytes of a part may be the
// beginning of a frame, unless the segment ends there.
func damagedBytes(data []byte, isEnd bool) int {
	skipped := nextFrame(data)
	if skipped == len(data) && !isEnd {
		return max(1, len(data)-maxFrame)
	}
	return skipped
}

// Release removes the segments before a position: their entries are not needed any more.
// It only renames a damaged segment. If the last write failed and the position is after all
// entries, Release replaces the current segment, which may have used up the disk.
func (j *Journal) Release(position Position) error {
	position, err := j.replaceCurrent(position)
	errs := []error{err}
	for _, s := range j.removeBefore(position) {
		path := segmentPath(j.options.Dir, s.number)
		if s.damaged {
			errs = append(errs, os.Rename(path, path+damagedSuffix))
		} else {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// replaceCurrent begins a new segment in place of the current one, if the last write failed
// and the entries up to a position, the end of the journal, are not needed any more. It
// returns the position before which segments can be removed. It does not return a failure
// to write, because the journal tries again.
func (j *Journal) replaceCurrent(position Position) (Position, error) {
	j.writer.Lock()
	defer j.writer.Unlock()
	if !j.writer.failed || position.Before(j.State().End) {
		return position, nil
	}
	if j.startSegment(j.writer.file.number+1) != nil {
		// The disk may have no room for another file. The entries that are open or delayed
		// are in memory, and are written at once. The emptied file remains, because a number
		// must never be used twice: the records of the second file would be taken for read.
		if err := j.emptyCurrent(); err != nil {
			return position, fmt.Errorf("making room for a segment: %w", err)
		}
		if j.startSegment(j.writer.file.number+1) != nil {
			return position, nil
		}
	}
	j.writer.failed = false
	_ = j.writeDelayed() // the next write tries again
	return Position{Segment: j.writer.file.number}, nil
}

// emptyCurrent removes all entries from the last segment, unless it is damaged. Nothing is
// appended to the file after that. The caller holds the writer.
func (j *Journal) emptyCurrent() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) == 0 {
		return nil
	}
	last := &j.segments[len(j.segments)-1]
	if last.damaged || last.size <= int64(segmentHeader) {
		return nil
	}
	j.writer.file.broken = true
	if err := os.Truncate(segmentPath(j.options.Dir, last.number), int64(segmentHeader)); err != nil {
		return err
	}
	last.size, j.writer.file.size = int64(segmentHeader), int64(segmentHeader)
	return nil
}

// removeBefore removes the segments before a position from the list, and returns them.
func (j *Journal) removeBefore(p Position) []segment {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := max(0, slices.IndexFunc(j.segments, func(s segment) bool { return s.number >= p.Segment }))
	removed := slices.Clone(j.segments[:n])
	j.segments = slices.Delete(j.segments, 0, n)
	return removed
}

// State describes a Journal at one point in time.
type State struct {
	Bytes   int64    // the size of all segments
	End     Position // after the last entry
	Open    int      // the number of entries that have begun and not ended
	Delayed int      // the number of ends that could not be written yet
}

// State returns the present state of the journal.
func (j *Journal) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := State{Bytes: j.segments.size(), Open: len(j.entries.open), Delayed: j.entries.delayed.ends}
	if n := len(j.segments); n > 0 {
		s.End = Position{j.segments[n-1].number, j.segments[n-1].size}
	}
	return s
}

// Wake adds an element to Written without a write.
func (j *Journal) Wake() {
	select {
	case j.reader.written <- struct{}{}:
	default: // there is one
	}
}
