package relay_test

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// accessStatus returns the status of the first entry of the access log.
func accessStatus(s *site.Site) any {
	s.T.Helper()
	entry, err := s.Logs.WaitEntry(site.Waiting(s.T), func(e map[string]any) bool { return e["msg"] == "handled request" })
	require.NoError(s.T, err)
	return entry["status"]
}

// deafAddress returns an address where connecting neither succeeds nor fails: the
// queue of its listener is full.
func deafAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	bound, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(bound.(*syscall.SockaddrInet4).Port))
	filler, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = filler.Close() })
	return address
}

// thenSilence sends the first half of a stream at once, with content and without
// keep-alives, and then nothing.
func thenSilence(t *testing.T, path string) gatewaytest.Step {
	begin := site.WithoutKeepAlives(path, strings.Join(site.Streams[path][:len(site.Streams[path])/2+1], ""))
	return gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin), gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.More()))
}
