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

// alone listens on a port without sharing it.
var alone = net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) (err error) {
	failed := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(failed, err)
}}

// FreePort once only looked a port up. The kernel sometimes assigned the same port to
// another test, whose requests then reached the wrong server.
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
