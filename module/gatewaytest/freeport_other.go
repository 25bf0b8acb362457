//go:build !linux

package gatewaytest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// FreePort returns a port on 127.0.0.1 on which no program listens at the moment.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
