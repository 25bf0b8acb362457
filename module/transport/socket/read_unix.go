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
	p, source := r.dst, (*buffer)(nil) // none while the read waits
	if p == nil {
		source = buffers.Get().(*buffer)
		p = source[:]
	}
	n, err := syscall.Read(int(fd), p)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), p)
	}
	switch {
	case source == nil && n > 0:
		r.dst = p[:n]
		return true
	case n > 0:
		r.arrived, r.unread = source, p[:n]
		return true
	case source != nil:
		buffers.Put(source)
	}
	switch err {
	case syscall.EAGAIN:
		r.wait()
		return false
	case nil:
		r.err = io.EOF
	default:
		address := r.conn.LocalAddr()
		r.err = &net.OpError{Op: "read", Net: address.Network(), Source: address, Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", err)}
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
