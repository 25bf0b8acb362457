//go:build !unix

package socket

// ReadsWithoutWaiting is false, because other systems do not read without waiting in the
// same way.
const ReadsWithoutWaiting = false

func (r *Reader) tryRead(uintptr) (done bool) { return true }

func (r *Reader) tryNothing(uintptr) (done bool) { return true }
