//go:build unix

package socket

import (
	"io"
	"net"
	"os"
	"syscall"
)

// ReadsWithoutWaiting reports whether connections have Readers.
const ReadsWithoutWaiting = true

// tryRead reads what has arrived, or an error. It returns false if the read has to wait.
func (r *Reader) tryRead(fd uintptr) (done bool) {
	into := buffers.Get().(*buffer)
	n, err := syscall.Read(int(fd), into[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), into[:])
	}
	if n > 0 {
		r.arrived, r.unread = into, into[:n]
		return true
	}
	buffers.Put(into)
	switch err {
	case syscall.EAGAIN:
		r.wait()
		return false
	case nil:
		r.err = io.EOF
	default:
		at := r.conn.LocalAddr()
		r.err = &net.OpError{Op: "read", Net: at.Network(), Source: at, Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", err)}
	}
	return true
}

// tryNothing notes whether a read would wait.
func (r *Reader) tryNothing(fd uintptr) (done bool) {
	var one [1]byte
	_, err := syscall.Read(int(fd), one[:])
	r.silent = err == syscall.EAGAIN
	return true
}
