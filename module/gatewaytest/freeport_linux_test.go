package gatewaytest

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alone listens as one who shares the port with nobody.
var alone = net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) (err error) {
	failed := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(failed, err)
}}

// A port that was only looked up was free again at once, and now and then given
// to whoever asked next: another test of this process or of another one, whose
// requests then came to a server that was not theirs.
func TestAFreePortIsTakenAlreadyButForThoseWhoNameIt(t *testing.T) {
	address := fmt.Sprintf("127.0.0.1:%d", FreePort(t))
	listener, err := alone.Listen(t.Context(), "tcp", address)
	if !assert.ErrorIs(t, err, syscall.EADDRINUSE) {
		_ = listener.Close()
	}
	_, err = ownClient(t).Get("http://" + address)
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	for range 2 {
		listener, err = net.Listen("tcp", address)
		require.NoError(t, err)
		require.NoError(t, listener.Close())
	}
}
