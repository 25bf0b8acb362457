package limitstest

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// RedisServer is a Redis server of a test. It has written each change to a file when it
// answers.
type RedisServer struct {
	// Address is the host and the port of the server, which it keeps over a restart.
	Address string

	t       testing.TB
	options []string
	dir     string
	process *exec.Cmd
}

// StartRedis starts a Redis server on a free port until the test ends, with further options
// of its command line. It returns false if redis-server is not installed, which is a failure
// if CI is set.
func StartRedis(t testing.TB, options ...string) (s *RedisServer, ok bool) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		require.Empty(t, os.Getenv("CI"), "redis-server is not installed")
		t.Log("redis-server is not installed: nothing is tested with it")
		return nil, false
	}
	s = &RedisServer{Address: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)), t: t, options: options, dir: t.TempDir()}
	s.Start()
	t.Cleanup(s.Kill)
	return s, true
}

// Start starts the server again, with the data that it had.
func (s *RedisServer) Start() {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.Address)
	s.process = exec.Command("redis-server", append(s.options, "--port", port, "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "yes", "--appendfsync", "no", "--dir", s.dir)...)
	require.NoError(s.t, s.process.Start())
	require.Eventually(s.t, s.answers, time.Minute, 10*time.Millisecond)
}

// Kill ends the server at once. A killed one may be killed again.
func (s *RedisServer) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Forget removes the data of a killed server.
func (s *RedisServer) Forget() {
	s.t.Helper()
	s.dir = s.t.TempDir()
}

// Stall has the server take connections and requests, and do nothing. Resume ends that:
// the server does what it was asked since.
func (s *RedisServer) Stall() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGSTOP)) }

// Resume ends Stall.
func (s *RedisServer) Resume() { require.NoError(s.t, s.process.Process.Signal(syscall.SIGCONT)) }

// answers reports whether the server answers.
func (s *RedisServer) answers() bool {
	conn, err := net.Dial("tcp", s.Address)
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
