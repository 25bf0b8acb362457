package counterstest

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

// RedisServer is a Redis server of a test. It writes each change to a file before it
// answers.
type RedisServer struct {
	// Address is the host and the port of the server. A restart keeps them.
	Address string

	t       testing.TB
	options []string
	dir     string
	process *exec.Cmd
}

// StartRedis starts a Redis server on a free port, with further options of its command
// line, and kills it at the end of the test. It returns false if redis-server is not
// installed. That is a failure if the environment variable CI is set.
func StartRedis(t testing.TB, options ...string) (s *RedisServer, ok bool) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		require.Empty(t, os.Getenv("CI"), "redis-server is not installed")
		t.Log("redis-server is not installed: this test does nothing")
		return nil, false
	}
	s = &RedisServer{Address: fmt.Sprintf("127.0.0.1:%d", gatewaytest.FreePort(t)), t: t, options: options, dir: t.TempDir()}
	s.Start()
	t.Cleanup(s.Kill)
	return s, true
}

// Start starts the server, with its data from before.
func (s *RedisServer) Start() {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.Address)
	s.process = exec.Command("redis-server", append(s.options, "--port", port, "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "yes", "--appendfsync", "no", "--dir", s.dir)...)
	require.NoError(s.t, s.process.Start())
	require.Eventually(s.t, s.answers, time.Minute, 10*time.Millisecond)
}

// Kill kills the server. It may be called several times.
func (s *RedisServer) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Forget removes the data of the server, which must have been killed.
func (s *RedisServer) Forget() {
	s.t.Helper()
	s.dir = s.t.TempDir()
}

// Stall stops the process of the server: it accepts connections and requests, but does not
// answer. After Resume, it answers the requests that it received meanwhile.
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
