package journal

import (
	"errors"
	"fmt"
	"os"
)

// segmentFile is the file of the current segment.
type segmentFile struct {
	file     *os.File // nil before the first segment
	number   uint64
	headSize int64 // the size of the header and of the copies of open entries
	size     int64
	dirty    bool // there may be writes since the last sync
	broken   bool // nothing can be appended: a new segment must begin

	window window // to which frames are written, unless plain is true
	plain  bool   // frames are written by system calls
}

// createSegment creates the file of a segment with its head.
func createSegment(path string, number uint64, head []byte) (segmentFile, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return segmentFile{}, err
	}
	f := segmentFile{file: file, number: number}
	if err := f.append(head); err != nil {
		_ = file.Close() // the first error is the cause
		_ = os.Remove(path)
		return segmentFile{}, err
	}
	f.headSize = f.size
	return f, nil
}

// written returns the number of bytes after the head.
func (f *segmentFile) written() int64 { return f.size - f.headSize }

// append writes whole frames. If that fails, it restores the size of the file.
func (f *segmentFile) append(frames []byte) error {
	f.dirty = true
	err := f.write(frames)
	if err == nil {
		f.size += int64(len(frames))
		return nil
	}
	if undo := f.trim(); undo != nil {
		f.broken = true
		return fmt.Errorf("%w; removing a part of it: %w", err, undo)
	}
	return err
}

// write writes frames at the end of the file, to its window if it has one.
func (f *segmentFile) write(frames []byte) error {
	if !f.plain && !f.window.has(f.size, len(frames)) {
		f.window.close()
		next, ok := openWindow(f.file, f.size, len(frames))
		f.window, f.plain = next, !ok
	}
	if !f.plain {
		return f.window.write(frames, f.size)
	}
	_, err := f.file.WriteAt(frames, f.size)
	return err
}

// trim removes from the file what follows the last frame, and closes the window. Further
// frames are written by system calls.
func (f *segmentFile) trim() error {
	f.window.close()
	f.plain = true
	return f.file.Truncate(f.size)
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
	_ = f.trim() // readers ignore zeros at the end
	return errors.Join(f.sync(), f.file.Close())
}
