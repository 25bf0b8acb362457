package journal

import (
	"os"
	"syscall"
)

// mapFile reserves a part of a file on the disk, and returns the memory that is this part.
func mapFile(file *os.File, offset, size int64) (memory []byte, ok bool) {
	if syscall.Fallocate(int(file.Fd()), 0, offset, size) != nil {
		return nil, false
	}
	memory, err := syscall.Mmap(int(file.Fd()), offset, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return memory, err == nil
}

func unmapFile(memory []byte) { _ = syscall.Munmap(memory) } // fails for other memory alone
