package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrRemoved is returned by Copy if a segment was removed before it was copied.
var ErrRemoved = errors.New("the journal was shortened while it was copied")

// First returns the number of the oldest segment in a directory, 0 for none.
func First(dir string) (uint64, error) {
	numbers, err := listSegments(dir)
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	return numbers[0], nil
}

// Copy copies the files of a journal, which another process may be using, to a new
// directory. It returns ErrRemoved if the segment with the number first, or one after it, is
// not there any more. The copy may end in the middle of an entry, as after a crash.
func Copy(src, dst string, first uint64) error {
	if err := os.MkdirAll(dst, 0o700); err != nil {
		return fmt.Errorf("copying journal: %w", err)
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return fmt.Errorf("copying journal: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == lockName || !entry.Type().IsRegular() {
			continue
		}
		err := CopyFile(filepath.Join(src, entry.Name()), filepath.Join(dst, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			return ErrRemoved
		}
		if err != nil {
			return fmt.Errorf("copying journal: %w", err)
		}
	}
	if now, err := First(src); err != nil || first > 0 && now != first {
		return errors.Join(ErrRemoved, err)
	}
	return nil
}

// CopyFile copies a file to a new one that only its owner can read, and syncs it.
func CopyFile(src, dst string) (err error) {
	source, err := os.Open(src)
	if err != nil {
		return err
	}
	defer source.Close()
	made, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(made, source)
	return errors.Join(err, made.Sync(), made.Close())
}

// InUse returns ErrInUse if a process uses the journal of a directory.
func InUse(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return file.Close()
}

// Check returns an error if a segment of a directory cannot be read, or is none. Entries are not
// checked: those that were written while a journal in use was copied may be parts.
func Check(dir string) error {
	numbers, err := listSegments(dir)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		path := segmentPath(dir, number)
		head, err := new(reader).read(path, 0, int64(segmentHeader))
		if _, ok := parseSegmentHeader(head); err != nil || !ok {
			return errors.Join(fmt.Errorf("the segment %s of the journal is damaged", filepath.Base(path)), err)
		}
	}
	return nil
}
