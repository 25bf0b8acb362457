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
	p, from := r.into, (*buffer)(nil) // none while the read waits
	if p == nil {
		from = buffers.Get().(*buffer)
		p = from[:]
	}
	n, err := syscall.Read(int(fd), p)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), p)
	}
	switch {
	case from == nil && n > 0:
		r.into = p[:n]
		return true
	case n > 0:
		r.arrived, r.unread = from, p[:n]
		return true
	case from != nil:
		buffers.Put(from)
	}
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
