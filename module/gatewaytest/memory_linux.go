package gatewaytest

import (
	"os"
	"syscall"
)

const (
	memoryFolder = "/dev/shm"
	memoryType   = 0x01021994 // of tmpfs
	memoryRoom   = 256 << 20
)

// useMemory has temporary files made in memory, where the machine offers that
// and nobody has named a place: a database that waits for its disk may wait for
// all that a build beside it has written, longer than any method of a store may
// take.
func useMemory() {
	var found syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryFolder, &found) != nil {
		return
	}
	if found.Type == memoryType && found.Bavail >= memoryRoom/uint64(found.Bsize) {
		_ = os.Setenv("TMPDIR", memoryFolder) // or else the disk is used
	}
}
