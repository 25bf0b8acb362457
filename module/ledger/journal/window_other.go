//go:build !linux

package journal

import "os"

// mapFile returns false: only Linux reserves room for the memory that it returns. Without room,
// a full disk would be noticed by a fault of the memory, after an entry was confirmed.
func mapFile(*os.File, int64, int64) (memory []byte, ok bool) { return nil, false }

func unmapFile([]byte) {}

func populate([]byte) {}
