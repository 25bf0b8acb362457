package gatewaytest

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// addresses are those that listen has returned.
var addresses sync.Map

// listen returns a listener on 127.0.0.1 for a provider, at an address that no earlier
// provider of the process had. The gateway remembers what it has learned about an address,
// such as the format in which a model must be asked, and so would ask the provider of one
// test as it has learned in another.
func listen(t testing.TB) net.Listener {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		if _, used := addresses.LoadOrStore(listener.Addr().String(), nil); !used {
			return listener
		}
		defer func() { _ = listener.Close() }() // not before the kernel has assigned another address
	}
}
