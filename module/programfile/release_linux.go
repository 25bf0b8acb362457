package programfile

import (
	"fmt"
	"os"
	"syscall"
)

// Release gives the pages of the program's file back to the system. It takes about a
// millisecond, but 12 for each GB of heap in a position-independent program, whose mappings
// come after the heap.
func Release() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("finding program: %w", err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("reading mappings: %w", err)
	}
	defer smaps.Close()
	mappings, err := unchanged(smaps, program)
	if err != nil {
		return fmt.Errorf("reading mappings: %w", err)
	}
	for _, m := range mappings {
		if err := m.release(); err != nil {
			return err
		}
	}
	return nil
}

func (m mapping) release() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED); errno != 0 {
		return fmt.Errorf("releasing pages: %w", errno)
	}
	return nil
}
