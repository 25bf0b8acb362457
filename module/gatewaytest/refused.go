package gatewaytest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// RefusedAddress returns an address on 127.0.0.1 that refuses connections until the test
// ends. Its port is in use by the client end of a connection, so that no program can listen
// on it.
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
