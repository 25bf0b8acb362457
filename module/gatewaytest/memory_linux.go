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

// useMemory creates temporary files in memory, if the machine has a folder in memory with
// enough room and TMPDIR is not set. On a disk, a database may have to wait until the disk
// has written the files of a concurrent build, which takes longer than the timeouts of a
// store.
func useMemory() {
	var found syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memoryFolder, &found) != nil {
		return
	}
	if found.Type == memoryType && found.Bavail >= memoryRoom/uint64(found.Bsize) {
		_ = os.Setenv("TMPDIR", memoryFolder) // or else the disk is used
	}
}
