//go:build unix

package socket

import (
	"bytes"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// connected returns a reader of a connection, and the other end of the connection.
func connected(t *testing.T) (*Reader, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	provider, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = conn.Close(), provider.Close() })
	r := NewReader(conn)
	require.NotNil(t, r)
	return r, provider.(*net.TCPConn)
}

func TestAReaderReturnsAllBytesInOrder(t *testing.T) {
	for name, p := range map[string][]byte{"in parts of a buffer": make([]byte, 3000), "without a buffer": make([]byte, 10_000)} {
		t.Run(name, func(t *testing.T) {
			r, provider := connected(t)
			sent := bytes.Repeat([]byte("0123456789"), 10_001)
			go func() {
				_, _ = provider.Write(sent)
				_ = provider.CloseWrite()
			}()
			var got []byte
			for stop, i := func() {}, 0; ; i++ {
				switch i % 3 { // bytes that have arrived are left over when the function goes
				case 0:
					stop = r.OnWait(func() {})
				case 1:
					stop()
				}
				n, err := r.Read(p[:len(p)*(4-i%2)/4]) // every other read is shorter
				got = append(got, p[:n]...)
				if err != nil {
					assert.Equal(t, io.EOF, err)
					break
				}
			}
			assert.True(t, bytes.Equal(sent, got))
			_, err := r.Read(p)
			assert.Equal(t, io.EOF, err)
		})
	}
}

// It needs no buffer, and no second call of the system.
func TestALongReadTakesAllThatHasArrived(t *testing.T) {
	r, provider := connected(t)
	sent := bytes.Repeat([]byte("a"), 20_000)
	_, err := provider.Write(sent)
	require.NoError(t, err)
	awaitReadable(r, len(sent))
	got := make([]byte, 30_000)
	n, err := r.Read(got)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(sent, got[:n]))
}

func TestAReadOfNothingDoesNotWait(t *testing.T) {
	r, _ := connected(t)
	n, err := r.Read(nil)
	assert.Zero(t, n)
	assert.NoError(t, err)
}

// What the function sends would otherwise wait for bytes that may never come.
func TestTheFunctionRunsBeforeAReadWaits(t *testing.T) {
	r, provider := connected(t)
	p := make([]byte, 1)
	for range 3 { // once for each read
		calls := 0
		stop := r.OnWait(func() {
			calls++
			_, _ = provider.Write([]byte("a"))
		})
		n, err := r.Read(p)
		require.NoError(t, err)
		assert.Equal(t, "a", string(p[:n]))
		assert.Equal(t, 1, calls)
		stop()
	}
}

func TestTheFunctionDoesNotRunWhileBytesAreThere(t *testing.T) {
	r, provider := connected(t)
	_, err := provider.Write([]byte("abc"))
	require.NoError(t, err)
	p := make([]byte, 1)
	_, err = r.Read(p) // waits until the bytes have arrived
	require.NoError(t, err)
	defer r.OnWait(func() { t.Error("the reader waits") })()
	for _, want := range []string{"b", "c"} {
		n, err := r.Read(p)
		require.NoError(t, err)
		assert.Equal(t, want, string(p[:n]))
	}
}

// A connection is used for the next call before the one before has stopped its function.
func TestStopLeavesALaterFunctionAlone(t *testing.T) {
	r, provider := connected(t)
	stop := r.OnWait(func() { t.Error("the function of an ended call has run") })
	ran := false
	defer r.OnWait(func() {
		ran = true
		_, _ = provider.Write([]byte("a"))
	})()
	stop()
	_, err := r.Read(make([]byte, 1))
	require.NoError(t, err)
	assert.True(t, ran)
}

// The errors are those of the connection: the transport repeats requests, and blames the
// provider, by them.
func TestErrorsAreThoseOfTheConnection(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(r *Reader, provider *net.TCPConn)
		want error
	}{
		"reset": {func(_ *Reader, provider *net.TCPConn) {
			_ = provider.SetLinger(0)
			_ = provider.Close()
		}, syscall.ECONNRESET},
		"closed":   {func(r *Reader, _ *net.TCPConn) { go r.conn.Close() }, net.ErrClosed},
		"deadline": {func(r *Reader, _ *net.TCPConn) { _ = r.conn.SetReadDeadline(time.Now()) }, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			r, provider := connected(t)
			defer r.OnWait(func() { test.end(r, provider) })()
			n, err := r.Read(make([]byte, 1))
			assert.Zero(t, n)
			assert.ErrorIs(t, err, test.want)
			var opError *net.OpError
			assert.ErrorAs(t, err, &opError)
		})
	}
}

func TestWhatIsNoSocketHasNoReader(t *testing.T) {
	conn, other := net.Pipe()
	defer conn.Close()
	defer other.Close()
	assert.Nil(t, NewReader(conn))
}

// Thousands of streams wait at once.
func TestAWaitingReaderHasNoBuffer(t *testing.T) {
	r, provider := connected(t)
	defer r.OnWait(func() {
		assert.Nil(t, r.arrived)
		_, _ = provider.Write([]byte("a"))
	})()
	_, err := r.Read(make([]byte, 8))
	require.NoError(t, err)
	assert.Nil(t, r.arrived)
}

// timed is a connection that does more than reading before it reads, as that of Caddy with a
// read timeout does.
type timed struct{ *net.TCPConn }

// A stream on a connection with a read timeout ended when that time had passed since its
// beginning: its Reader read from the socket below, without a new deadline for each read.
func TestAConnectionOfAnotherTypeHasNoReader(t *testing.T) {
	r, _ := connected(t)
	assert.Nil(t, NewReader(timed{r.conn.(*net.TCPConn)}))
	assert.NotNil(t, NewReader(r.conn))
}

func TestAConnectionIsRenewedIfNothingHasArrived(t *testing.T) {
	for name, test := range map[string]struct {
		before func(r *Reader, provider *net.TCPConn)
		want   bool
	}{
		"open":        {func(*Reader, *net.TCPConn) {}, true},
		"closed here": {func(r *Reader, _ *net.TCPConn) { _ = r.conn.Close() }, false},
		"closed":      {func(_ *Reader, provider *net.TCPConn) { _ = provider.Close() }, false},
		"reset": {func(_ *Reader, provider *net.TCPConn) {
			_ = provider.SetLinger(0)
			_ = provider.Close()
		}, false},
		"with bytes behind the answer": {func(_ *Reader, provider *net.TCPConn) { _, _ = provider.Write([]byte("HTTP/1.1 200")) }, false},
		"with bytes that were read": {func(r *Reader, provider *net.TCPConn) {
			defer r.OnWait(func() { _, _ = provider.Write([]byte("ab")) })()
			_, _ = r.Read(make([]byte, 1))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, provider := connected(t)
			test.before(r, provider)
			if !test.want {
				awaitReadable(r, 1)
			}
			assert.Equal(t, test.want, r.Renew())
			if test.want {
				assert.True(t, r.Renew(), "a check leaves the connection as it is")
			}
		})
	}
}

// awaitReadable waits until a number of bytes, or the end of the connection, has arrived. It
// reads nothing.
func awaitReadable(r *Reader, bytes int) {
	_ = r.raw.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, bytes), syscall.MSG_PEEK)
		return n >= bytes || n == 0 && err == nil || err != nil && err != syscall.EAGAIN || r.arrived != nil
	})
}

// The function of a call that has ended flushed its client during the next call.
func TestARenewedConnectionHasNoFunction(t *testing.T) {
	r, _ := connected(t)
	r.OnWait(func() {})
	require.True(t, r.Renew())
	assert.Nil(t, r.onWait.Load())
}
