package relay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// startLogged starts a gateway with access logs. Its model "m" has two providers.
func startLogged(t *testing.T, w site.Way) site.Failover {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("log",
		w.Provider("first", first, "models 1"), w.Provider("second", second, "models 2"), "model m {\nto first\nto second\n}"))
	return site.Failover{Site: s, First: first, Second: second, Gate: gatewaytest.NewGate(t)}
}

// If a client left before the first byte, the access log once contained status 500 at the
// level ERROR.
func TestG100AClientThatLeavesBeforeTheFirstByteEndsTheCall(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("stream=%t", streaming), func(t *testing.T) { testLeavingEarly(t, w, streaming) })
		}
	})
}

func testLeavingEarly(t *testing.T, w site.Way, streaming bool) {
	s := startLogged(t, w)
	s.First.Script(gatewaytest.Stall(s.Gate, gatewaytest.Answer()))
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := s.Send(ctx, site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", streaming))
		if assert.ErrorIs(t, err, context.Canceled) {
			return
		}
		_ = response.Body.Close()
	}()
	require.NoError(t, s.First.WaitRequests(site.Waiting(t), 1))
	leave()
	assert.NoError(t, s.First.WaitCancelled(site.Waiting(t)))
	<-done
	record := s.RecordWhere(func(r map[string]any) bool { return true })
	assert.Equal(t, "client_closed", record["outcome"])
	assertBlameless(t, record)
	assert.Nil(t, record["fault"])
	assert.Equal(t, 499.0, accessStatus(s.Site))
	assert.Zero(t, s.Second.Count(), "no other target is asked for nobody")
	s.AssertQuiet()
}

func TestG100AClientThatLeavesInMidStreamEndsTheCall(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.ClientPaths {
			t.Run(path, func(t *testing.T) { testLeavingMidStream(t, w, path) })
		}
	})
}

func testLeavingMidStream(t *testing.T, w site.Way, path string) {
	s := startLogged(t, w)
	s.First.Script(gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path][:len(site.Streams[path])-3]...), gatewaytest.Stall(s.Gate, gatewaytest.More())))
	answer := s.Open(path, site.BodyFor(path, "m", "hello", true))
	answer.NextUntil(`"Hi"`)
	answer.Cancel()
	assert.NoError(t, s.First.WaitCancelled(site.Waiting(t)))
	record := s.Record(answer.Header.Get("Request-Id"))
	assert.Equal(t, "client_closed", record["outcome"])
	assertBlameless(t, record)
	assert.Nil(t, record["fault"])
	assert.Equal(t, 200.0, accessStatus(s.Site))
	assert.Zero(t, s.Second.Count())
	s.AssertQuiet()
}

// While the provider continues to send, the gateway detects only by its writes that the
// client has left.
func TestAClientThatLeavesABusyStreamEndsTheCall(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startLogged(t, w)
		s.First.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath][:2]...), gatewaytest.Flood()))
		answer := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		answer.Next()
		answer.Cancel()
		assert.NoError(t, s.First.WaitCancelled(site.Waiting(t)))
		record := s.Record(answer.Header.Get("Request-Id"))
		assert.Equal(t, "client_closed", record["outcome"])
		assertBlameless(t, record)
		s.AssertQuiet()
	})
}

// While the client does not read, a provider can send only as many bytes as fit into the
// buffers of the sockets.
func TestASlowClientSlowsTheProviderDown(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const limit = 256 << 20
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		stuck := make(chan int, 1)
		p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.ChatPath][:2]...), gatewaytest.FloodUntilStuck(limit, stuck)))
		answer := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		select {
		case written := <-stuck:
			assert.Less(t, written, limit/4, "the gateway took in what the client did not read")
		case <-time.After(site.Patience):
			assert.Fail(t, "the provider never came to a stop")
		}
		answer.Cancel()
	})
}

// A client that has stopped reading occupies a call of the provider until Caddy closes its
// connection.
func TestAClientThatStopsReadingIsCut(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, "{\nservers {\ntimeouts {\nwrite_idle 200ms\n}\n}\n}\n"+site.Block("", w.Provider("p", p)))
		event := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"content":"` +
			strings.Repeat("x", 8<<10) + `"},"finish_reason":null}]}` + "\n\n"
		p.Script(gatewaytest.Endless(event))
		answer := s.Open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
		require.NoError(t, p.WaitCancelled(site.Waiting(t)))
		assert.Equal(t, "client_closed", s.Record(answer.Header.Get("X-Request-Id"))["outcome"])
		answer.Cancel()
	})
}

// A client that left was once counted as a fault of its provider: as a stream that broke off,
// or as a provider that could not be reached.
func assertBlameless(t *testing.T, record map[string]any) {
	t.Helper()
	assert.Regexp(t, "^the client left while first/", record["msg"])
}
