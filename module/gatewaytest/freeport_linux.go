package gatewaytest

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// FreePort is a port on 127.0.0.1 where nobody listens, and where nobody will
// before the test ends but those who ask for it by its number: a socket that
// does not listen is bound to it, and so the kernel gives it to nobody else.
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
