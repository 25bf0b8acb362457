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

// populateWrite is MADV_POPULATE_WRITE, which package syscall lacks. Linux has it since 5.14.
const populateWrite = 23

// populate prepares memory for writing. A write does that for one page after the other, which takes
// several times as long, and also where populate fails.
func populate(memory []byte) { _ = syscall.Madvise(memory, populateWrite) }
