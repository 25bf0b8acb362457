package endpoints_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startSilentLines runs a service that accepts every WebSocket, and sends nothing on it. It keeps little
// memory.
func startSilentLines(t *testing.T) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var open []net.Conn
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open = append(open, conn)
			request, err := http.ReadRequest(bufio.NewReaderSize(conn, 1<<10))
			if err != nil {
				return
			}
			sum := sha1.Sum([]byte(request.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
		}
	}()
	return listener.Addr().String()
}

// openSilent opens a WebSocket by hand, with little memory.
func openSilent(t *testing.T, address, key string) net.Conn {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "GET /v1/responses HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", address, key)
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	return conn
}

// inUse returns the memory of the process that is in use, stacks included, in bytes.
func inUse() int64 {
	var m runtime.MemStats
	for range 3 { // pools keep what they have for two
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Other gateways hold a buffer of the largest message for each socket, and few idle ones fill their
// memory.
func TestX163AnIdleSocketTakesLittleMemory(t *testing.T) {
	const keys, sockets, most = 40, 50, 40 << 10
	t.Setenv("UP_KEY", "sk-up")
	lines := []string{
		site.Direct.ProviderAt("up", startSilentLines(t), "format responses", "models off", "api_key {env.UP_KEY}"),
		"model gpt {\nto up/gpt-real\n}", "sockets up",
	}
	for i := range keys {
		t.Setenv(fmt.Sprintf("KEY_%d", i), fmt.Sprintf("sk-the-key-number-%d", i))
		lines = append(lines, fmt.Sprintf("key k%d {env.KEY_%d}", i, i))
	}
	s := site.Start(t, lines...)
	address := fmt.Sprintf("127.0.0.1:%d", s.Port("site"))
	open := make([]net.Conn, 0, 1+keys*sockets)
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	open = append(open, openSilent(t, address, site.ClientKey))
	before := inUse()
	for i := range keys * sockets {
		open = append(open, openSilent(t, address, fmt.Sprintf("sk-the-key-number-%d", i%keys)))
	}
	each := (inUse() - before) / (keys * sockets)
	t.Logf("%d bytes for each of %d sockets", each, keys*sockets)
	assert.Less(t, each, int64(most))
}
