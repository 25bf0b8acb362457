package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// streamed asks for a stream, and returns its body when the first content has arrived.
func streamed(t *testing.T, transport *Transport) *relay {
	t.Helper()
	c := &exchange.Conduit{Attempt: *attemptFor(t, translate.Chat, true)}
	r := (&http.Request{URL: new(url.URL), Header: http.Header{}}).WithContext(exchange.WithConduit(context.Background(), c))
	res, err := transport.RoundTrip(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.Body.(*relay)
}

// A short stream has been read to its end before its client gets the first byte, so that its
// connection may already serve another call. The function that flushes the first client replaced
// that of the other one: the other client got no event until the end of its stream, and its
// reader wrote to the first client, which may have been slow.
func TestAStreamThatHasEndedDoesNotWaitOnTheConnectionOfAnother(t *testing.T) {
	for name, inner := range map[string]func(*http.Transport) *Transport{
		"net/http": func(base *http.Transport) *Transport { return withoutTLS(base) },
		"http1": func(base *http.Transport) *Transport {
			way := withoutTLS(nil)
			way.carrier.http1 = http1.New(&reverseproxy.HTTPTransport{Versions: []string{"1.1"}, Transport: base})
			t.Cleanup(way.carrier.http1.Close)
			return way
		},
	} {
		t.Run(name, func(t *testing.T) {
			waits := make(chan struct{})
			var connections sync.Map
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				connections.Store(r.RemoteAddr, true)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, chunkText)
				if requests.Add(1) > 1 {
					_ = http.NewResponseController(w).Flush()
					<-waits
				}
				_, _ = io.WriteString(w, chunkFinish+done)
			}))
			defer server.Close()
			base := &http.Transport{DialContext: socket.Dialing(func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			})}
			defer base.CloseIdleConnections()
			transport := inner(base)
			ended := streamed(t, transport)
			running := streamed(t, transport)
			var once sync.Once
			goOn := func() { once.Do(func() { close(waits) }) }
			require.True(t, running.OnWait(goOn))
			assert.True(t, ended.OnWait(func() {
				t.Error("the reader of another call flushes the client")
				goOn()
			}), "a stream that has ended needs no flush before the end of its answer")
			text, err := io.ReadAll(running)
			require.NoError(t, err)
			assert.Equal(t, chunkText+chunkFinish+done, string(text))
			count := 0
			connections.Range(func(any, any) bool { count++; return true })
			assert.Equal(t, 1, count, "both streams used the same connection")
		})
	}
}
