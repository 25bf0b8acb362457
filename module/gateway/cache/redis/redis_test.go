package redis

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/redisclient"
)

// provisioned returns the cache of a gateway.
func provisioned(t *testing.T, address string, timeout time.Duration) *Redis {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	r := &Redis{Connection: redisclient.Connection{Address: address, Timeout: caddy.Duration(timeout)}}
	require.NoError(t, r.Provision(ctx))
	t.Cleanup(func() { assert.NoError(t, r.Cleanup()) })
	return r
}

func TestGatewaysShareValues(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	first, second := provisioned(t, server.Address, time.Second), provisioned(t, server.Address, 2*time.Second)
	value, err := second.Get("a/1")
	require.NoError(t, err)
	assert.Nil(t, value)
	for i := range 2500 { // several pages
		require.NoError(t, first.Put(fmt.Sprintf("a/%d", i), []byte(strings.Repeat("x", i)), time.Hour))
	}
	require.NoError(t, first.Put("b/1", []byte("other"), time.Hour))
	value, err = second.Get("a/2000")
	require.NoError(t, err)
	assert.Len(t, value, 2000)
	value, err = second.Get("a/0")
	require.NoError(t, err)
	assert.NotNil(t, value, "an empty value is one")

	require.NoError(t, first.Put("a/new", nil, time.Millisecond))
	assert.Eventually(t, func() bool {
		value, err := second.Get("a/new")
		return err == nil && value == nil
	}, time.Minute, time.Millisecond, "it ends by its time")

	// A model with a short ttl that refreshed an answer took the longer one of another model away.
	require.NoError(t, first.Put("a/1", nil, time.Hour))
	require.NoError(t, second.Put("a/1", []byte("later"), time.Second))
	value, err = first.Get("a/1")
	require.NoError(t, err)
	assert.Equal(t, "later", string(value))
	assert.Greater(t, first.server.PTTL(t.Context(), tag+"a/1").Val(), 30*time.Minute)

	require.NoError(t, first.server.Set(t.Context(), "foreign", 1, 0).Err())
	removed, err := second.Remove("a/")
	require.NoError(t, err)
	assert.Equal(t, 2500, removed)
	value, err = first.Get("b/1")
	require.NoError(t, err)
	assert.Equal(t, "other", string(value))
	removed, err = second.Remove("")
	require.NoError(t, err)
	assert.Equal(t, 1, removed)
	assert.EqualValues(t, 1, first.server.Exists(t.Context(), "foreign").Val(), "the server has values of others")
}

// Each request would otherwise wait for a server that does not answer.
func TestAServerThatIsAwayGetsNoCallsForAWhile(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	if !ok {
		return
	}
	r := provisioned(t, server.Address, time.Second)
	require.NoError(t, r.Put("a", []byte("1"), time.Hour))
	server.Kill()
	for range redisclient.FailuresToRest {
		_, err := r.Get("a")
		require.Error(t, err)
		require.NotErrorIs(t, err, errResting)
	}
	assert.Error(t, r.Degraded())
	assert.ErrorIs(t, r.Put("b", nil, time.Hour), errResting)
	_, err := r.Remove("")
	assert.ErrorContains(t, err, "removing answers of the Redis server")

	server.Start()
	assert.Eventually(t, func() bool {
		value, err := r.Get("a")
		return err == nil && string(value) == "1"
	}, time.Minute, 10*time.Millisecond)
	assert.NoError(t, r.Degraded())
}

// A request waited for a server that hangs when it looked for an answer, and again when it kept its own.
func TestAServerThatHangsCostsARequestOneWait(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }() // nobody accepts, and nothing is answered
	r := provisioned(t, listener.Addr().String(), 50*time.Millisecond)
	_, err = r.Get("a")
	require.Error(t, err)
	require.NotErrorIs(t, err, errResting)
	assert.ErrorIs(t, r.Put("a", nil, time.Hour), errResting)
	_, err = r.Get("a")
	assert.NotErrorIs(t, err, errResting, "the next request tries the server")
}
