package redis

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/limits/limitstest"
)

// slowness hands connections on to a server, whose answers are late.
type slowness struct {
	net.Listener
	server string
	delay  atomic.Int64
	all    sync.WaitGroup
}

// slow returns the address of a server as it is seen through a network that is slow from
// when delay is set.
func slow(t *testing.T, server *limitstest.RedisServer) *slowness {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &slowness{Listener: l, server: server.Address}
	s.all.Go(s.accept)
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		s.all.Wait()
	})
	return s
}

func (s *slowness) accept() {
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

// copy hands bytes on until one of the connections ends, and then ends the other.
func (s *slowness) copy(to, from net.Conn, late bool) {
	defer to.Close()
	defer from.Close()
	for buffer := make([]byte, 1<<16); ; {
		n, err := from.Read(buffer)
		if late {
			<-time.After(time.Duration(s.delay.Load()))
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// What is sent in the background once had the timeout of requests. If the server was
// always slower than that, nothing was ever settled.
func TestASlowServerUsesUpNoBudget(t *testing.T) {
	server, _, ok := serving(t)
	if !ok {
		return
	}
	network := slow(t, server)
	g := gatewayWithin(t, &limitstest.RedisServer{Address: network.Addr().String()}, deny, 100*time.Millisecond)
	g.admitsSoon(t, 0)
	network.delay.Store(int64(150 * time.Millisecond))
	for range 20 {
		assert.Error(t, ask(t, g.Redis, 9*tenth).Err)
	}
	g.server.backlog.flush(t.Context(), patience)
	assert.False(t, g.server.backlog.waits())
	gatewayOn(t, server, deny).has(t, 9*tenth)
	g.server.backlog.close()
	assert.NoError(t, g.server.client.Close())
}
