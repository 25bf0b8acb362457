package journal

import (
	"fmt"
	"os"
	"runtime/debug"
)

// window is a part of a file in the memory of this process. What is written there is in the
// file at once: it survives a crash of the process like a write, and costs hardly any system
// calls. The disk has room for the whole window, and the unused rest is zero.
type window struct {
	memory []byte
	offset int64 // of the memory in the file
	ready  int   // up to here, the memory was populated
}

const (
	windowSize = 1 << 20
	pageSize   = 64 << 10 // a multiple of the size of a page, on every system
)

// openWindow returns a window with room for n bytes at the end of a file. ok is false if the
// disk has no room, and on systems and file systems without windows.
func openWindow(file *os.File, end int64, n int) (w window, ok bool) {
	w.offset = end - end%pageSize
	w.memory, ok = mapFile(file, w.offset, end-w.offset+int64(n)+windowSize)
	return w, ok
}

// has reports whether n bytes at an offset of the file are in the window.
func (w *window) has(offset int64, n int) bool {
	return offset-w.offset+int64(n) <= int64(len(w.memory))
}

// write writes at an offset of the file. It fails if the disk does, and if the file has become
// shorter: such a fault of the memory would otherwise end the process.
func (w *window) write(frames []byte, offset int64) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("writing to a file in memory: %v", fault)
		}
	}()
	i := int(offset - w.offset)
	for w.ready < i+len(frames) {
		next := min(w.ready+pageSize, len(w.memory))
		populate(w.memory[w.ready:next])
		w.ready = next
	}
	copy(w.memory[i:], frames)
	return nil
}

func (w *window) close() {
	if w.memory != nil {
		unmapFile(w.memory)
	}
	*w = window{}
}
