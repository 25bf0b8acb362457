package limitstest

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StartRedis starts a Redis server on a free port until the test ends, and returns its
// address. It returns false if redis-server is not installed, which is a failure if CI is
// set.
func StartRedis(t testing.TB) (address string, ok bool) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "redis-server is not installed")
		t.Log("redis-server is not installed: nothing is tested with it")
		return "", false
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = free.Addr().String()
	require.NoError(t, free.Close())
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool { return answers(address) }, time.Minute, 10*time.Millisecond)
	return address, true
}

// answers reports whether a Redis server answers.
func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	answer := make([]byte, len("+PONG"))
	_, _ = conn.Write([]byte("PING\r\n"))
	_, err = io.ReadFull(conn, answer)
	return err == nil && string(answer) == "+PONG"
}
