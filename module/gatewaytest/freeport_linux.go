package gatewaytest

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// FreePort returns a port on 127.0.0.1 on which no program listens. Until the test ends, a
// socket that does not listen is bound to the port, so that the kernel assigns the port only
// to programs that request its number.
func FreePort(t testing.TB) int {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	require.NoError(t, syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	require.NoError(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound, err := syscall.Getsockname(socket)
	require.NoError(t, err)
	return bound.(*syscall.SockaddrInet4).Port
}
