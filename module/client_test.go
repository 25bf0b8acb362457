package module_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// startLogged is a gateway with access logs whose model "m" leads to two
// providers.
func startLogged(t *testing.T, w way) stalling {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := startCaddyfile(t, siteBlock("log",
		w.provider("first", first, "models 1"), w.provider("second", second, "models 2"), "model m {\nto first\nto second\n}"))
	return stalling{s, first, second, gatewaytest.NewGate(t)}
}

// accessStatus is the status in the access log.
func (s *site) accessStatus() any {
	s.t.Helper()
	entry, err := s.Logs.WaitEntry(waiting(s.t), func(e map[string]any) bool { return e["msg"] == "handled request" })
	require.NoError(s.t, err)
	return entry["status"]
}

// A client that went away before anything was sent once got status 500, in the
// access log at the level of errors.
func TestG100AClientThatLeavesBeforeTheFirstByteEndsTheCall(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("stream=%t", streaming), func(t *testing.T) { testLeavingEarly(t, w, streaming) })
		}
	})
}

func testLeavingEarly(t *testing.T, w way, streaming bool) {
	s := startLogged(t, w)
	s.first.Script(gatewaytest.Stall(s.gate, gatewaytest.Answer()))
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := s.post(ctx, messagesPath, bodyFor(messagesPath, "m", "hello", streaming))
		if assert.ErrorIs(t, err, context.Canceled) {
			return
		}
		_ = response.Body.Close()
	}()
	require.NoError(t, s.first.WaitRequests(waiting(t), 1))
	leave()
	assert.NoError(t, s.first.WaitCancelled(waiting(t)))
	<-done
	record := s.recordWhere(func(r map[string]any) bool { return true })
	assert.Equal(t, "client_closed", record["outcome"])
	assert.Nil(t, record["fault"])
	assert.Equal(t, 499.0, s.accessStatus())
	assert.Zero(t, s.second.Count(), "no other target is asked for nobody")
	s.assertQuiet()
}

func TestG100AClientThatLeavesInMidStreamEndsTheCall(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) { testLeavingMidStream(t, w, path) })
		}
	})
}

func testLeavingMidStream(t *testing.T, w way, path string) {
	s := startLogged(t, w)
	s.first.Script(gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, streams[path][:len(streams[path])-2]...), gatewaytest.Stall(s.gate, more())))
	answer := s.open(path, bodyFor(path, "m", "hello", true))
	for !strings.Contains(answer.next(), "Hi") {
	}
	answer.cancel()
	assert.NoError(t, s.first.WaitCancelled(waiting(t)))
	record := s.record(answer.Header.Get("Request-Id"))
	assert.Equal(t, "client_closed", record["outcome"])
	assert.Nil(t, record["fault"])
	assert.Equal(t, 200.0, s.accessStatus())
	assert.Zero(t, s.second.Count())
	s.assertQuiet()
}

// The provider goes on sending: the gateway notices by its writes alone that
// nobody reads.
func TestAClientThatLeavesABusyStreamEndsTheCall(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		s := startLogged(t, w)
		s.first.Script(gatewaytest.InOrder(
			gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath][:2]...), flood(1<<30, nil)))
		answer := s.open(chatPath, bodyFor(chatPath, "m", "hello", true))
		answer.next()
		answer.cancel()
		assert.NoError(t, s.first.WaitCancelled(waiting(t)))
		assert.Equal(t, "client_closed", s.record(answer.Header.Get("Request-Id"))["outcome"])
		s.assertQuiet()
	})
}

// flood writes events of 16 KiB until it has written most bytes or the caller
// leaves. With stuck it also ends once nobody has taken one for a second; then
// stuck gets the number of bytes written.
func flood(most int, stuck chan<- int) gatewaytest.Step {
	event := "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("x", 16<<10) + "\"},\"finish_reason\":null}]}\n\n"
	return func(c *gatewaytest.Call) {
		control := http.NewResponseController(c.ResponseWriter)
		for written := 0; written < most; written += len(event) {
			if stuck != nil {
				_ = control.SetWriteDeadline(time.Now().Add(time.Second))
			}
			_, err := c.Write([]byte(event))
			if err == nil {
				err = control.Flush()
			}
			if err != nil {
				if os.IsTimeout(err) && stuck != nil {
					stuck <- written
				}
				panic(http.ErrAbortHandler)
			}
		}
		if stuck != nil {
			stuck <- most
		}
	}
}

// What the buffers of the sockets hold is all that a provider can get rid of
// while the client does not read.
func TestASlowClientSlowsTheProviderDown(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		const most = 256 << 20
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		stuck := make(chan int, 1)
		p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, streams[chatPath][:2]...), flood(most, stuck)))
		answer := s.open(chatPath, bodyFor(chatPath, "m", "hello", true))
		select {
		case written := <-stuck:
			assert.Less(t, written, most/4, "the gateway took in what the client did not read")
		case <-time.After(patience):
			assert.Fail(t, "the provider never came to a stop")
		}
		answer.cancel()
	})
}
