package journal

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// sharingViolation is the error for a file that another process has opened without
// sharing it.
const sharingViolation = syscall.Errno(32)

// lock locks the directory for this process until the lock is closed: no other process
// can open the file.
func lock(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}
