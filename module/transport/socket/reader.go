// Package socket reads from the sockets of providers with few calls of the system. A stream
// is flushed to its client before the gateway waits for more of it, and not while more has
// already arrived. Nothing is delayed by that, and a gateway with much to do writes less.
package socket

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Reader reads from a socket. It reads all that has arrived at once, and calls the function of
// OnWait, if it has one, before it waits for more. Like a connection of net/http, a Reader is
// used by one goroutine at a time; OnWait and its stop may be called at any time.
type Reader struct {
	conn   net.Conn
	raw    syscall.RawConn
	onWait atomic.Pointer[func()]

	arrived *buffer // has bytes that Read has not returned yet; nil if there are none
	unread  []byte  // these bytes

	// attempt is the method tryRead, which raw gets for each read. It is made once.
	attempt func(fd uintptr) (done bool)
	dst     []byte  // for the running Read, then what it has read; nil if it uses a buffer
	waits   *func() // of the running Read, until it was called
	err     error   // the end of the connection

	check  func(fd uintptr) (done bool) // the method tryNothing
	silent bool                         // in the last check
}

// buffer has room for a burst of events. A waiting Reader has none.
type buffer [8 << 10]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// NewReader returns a reader of a connection, nil if the connection is no socket that can be
// read without waiting. A type that has a socket, such as the one of Caddy that sets a
// deadline for each read, may do more than reading.
func NewReader(conn net.Conn) *Reader {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil || !ReadsWithoutWaiting {
		return nil
	}
	r := &Reader{conn: conn, raw: raw}
	r.attempt, r.check = r.tryRead, r.tryNothing
	return r
}

// OnWait makes f run before each read that waits, in place of an earlier function, until stop.
// If a read has begun before stop, f may still run after it. f must not close the connection:
// that waits for the read.
func (r *Reader) OnWait(f func()) (stop func()) {
	r.onWait.Store(&f)
	return func() { r.onWait.CompareAndSwap(&f, nil) }
}

// Read reads as the connection does.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.arrived == nil {
		if n, err := r.receive(p); n > 0 || err != nil {
			return n, err
		}
	}
	n := copy(p, r.unread)
	if r.unread = r.unread[n:]; len(r.unread) == 0 {
		buffers.Put(r.arrived)
		r.arrived, r.unread = nil, nil
	}
	return n, nil
}

// receive reads into a buffer, or into p if p is not smaller than that. It returns the number
// of bytes in p.
func (r *Reader) receive(p []byte) (int, error) {
	r.waits, r.dst = r.onWait.Load(), nil
	if len(p) >= len(buffer{}) {
		r.dst = p
	}
	err := cmp.Or(r.raw.Read(r.attempt), r.err)
	n := len(r.dst)
	r.dst = nil
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Renew prepares a connection for another request: it removes the function of OnWait. It
// returns false if the other end has closed the connection, or has sent bytes that nobody has
// read.
func (r *Reader) Renew() bool {
	r.onWait.Store(nil)
	return r.arrived == nil && r.raw.Read(r.check) == nil && r.silent
}

// wait calls the function of the running Read, if that was not done before.
func (r *Reader) wait() {
	if f := r.waits; f != nil {
		r.waits = nil
		(*f)()
	}
}
