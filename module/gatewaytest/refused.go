package gatewaytest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// RefusedAddress is an address on 127.0.0.1 where nobody listens and nobody
// will before the test ends: its port is taken by the calling end of a
// connection.
func RefusedAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn.LocalAddr().String()
}
