//go:build !unix

package socket

// readsWithoutWaiting is false, because other systems do not read without waiting in the
// same way.
const readsWithoutWaiting = false

func (r *Reader) tryRead(uintptr) (done bool) { return true }
