package journal

import (
	"errors"
	"fmt"
	"os"
)

// segmentFile is the file of the segment that is written.
type segmentFile struct {
	file   *os.File // nil before the first segment
	number uint64
	began  int64 // the size of its beginning
	size   int64
	dirty  bool // something may not be on the disk yet
	broken bool // a part of a write could not be taken back
}

var errBroken = errors.New("an earlier write failed and could not be taken back")

// createSegment makes the file of a segment, with its beginning.
func createSegment(path string, number uint64, head []byte) (segmentFile, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return segmentFile{}, err
	}
	f := segmentFile{file: file, number: number}
	if err := f.append(head); err != nil {
		_ = file.Close() // the first error is the cause
		_ = os.Remove(path)
		return segmentFile{}, err
	}
	f.began = f.size
	return f, nil
}

// append writes whole frames, or leaves the file as it was.
func (f *segmentFile) append(frames []byte) error {
	if f.broken {
		return errBroken
	}
	f.dirty = true
	n, err := f.file.Write(frames)
	if err == nil {
		f.size += int64(n)
		return nil
	}
	if undo := f.file.Truncate(f.size); undo != nil {
		f.broken = true
		return fmt.Errorf("%w; taking it back: %w", err, undo)
	}
	return err
}

func (f *segmentFile) sync() error {
	if f.file == nil || !f.dirty {
		return nil
	}
	return f.file.Sync()
}

func (f *segmentFile) close() error {
	if f.file == nil {
		return nil
	}
	return errors.Join(f.sync(), f.file.Close())
}
