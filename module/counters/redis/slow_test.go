package redis

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
)

// slowProxy forwards connections to a server, and delays the answers.
type slowProxy struct {
	net.Listener
	server string
	delay  atomic.Int64
	all    sync.WaitGroup
}

// slow starts a proxy of a server. It delays answers after delay is set.
func slow(t *testing.T, server *counterstest.RedisServer) *slowProxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &slowProxy{Listener: l, server: server.Address}
	s.all.Go(s.accept)
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		s.all.Wait()
	})
	return s
}

func (s *slowProxy) accept() {
	for {
		client, err := s.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", s.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		s.all.Go(func() { s.copy(server, client, false) })
		s.all.Go(func() { s.copy(client, server, true) })
	}
}

// copy copies bytes until one of the connections ends, and then closes both.
func (s *slowProxy) copy(dst, src net.Conn, delayed bool) {
	defer dst.Close()
	defer src.Close()
	for buffer := make([]byte, 1<<16); ; {
		n, err := src.Read(buffer)
		if delayed {
			<-time.After(time.Duration(s.delay.Load()))
		}
		if _, failed := dst.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// Calls in the background once had the timeout of requests. If the server was always slower
// than that, no request was ever settled.
func TestASlowServerUsesUpNoBudget(t *testing.T) {
	t.Parallel()
	server, _, ok := serving(t)
	if !ok {
		return
	}
	proxy := slow(t, server)
	// 100 ms were too few for the first call on a busy machine.
	g := gatewayWithin(t, &counterstest.RedisServer{Address: proxy.Addr().String()}, deny, 200*time.Millisecond)
	// The connections are closed also if the test fails: the proxy, which waits for them, once never ended.
	t.Cleanup(func() {
		g.server.backlog.close()
		assert.NoError(t, g.server.client.Close())
	})
	g.admitsSoon(t, 0)
	proxy.delay.Store(int64(250 * time.Millisecond))
	for range 10 {
		assert.Error(t, ask(t, g.Redis, 9*tenth).Err)
	}
	g.server.backlog.flush(t.Context(), patience)
	assert.False(t, g.server.backlog.pending())
	gatewayOn(t, server, deny).assertLeft(t, 9*tenth)
}
