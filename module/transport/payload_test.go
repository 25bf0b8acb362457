package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/http1"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/socket"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// stale is a connection that fails to write when it is stale, like one that the provider has
// closed while it was idle.
type stale struct {
	net.Conn
	now *atomic.Bool
}

func (s *stale) Write(p []byte) (int, error) {
	if s.now.CompareAndSwap(true, false) {
		return 0, syscall.EPIPE
	}
	return s.Conn.Write(p)
}

// ways are the transports without TLS, and what ends their idle connection to a server.
var ways = map[string]func(t *testing.T, server *httptest.Server) (way *Transport, end func()){
	"net/http": func(t *testing.T, server *httptest.Server) (*Transport, func()) {
		var now atomic.Bool
		inner := &http.Transport{DialContext: socket.Dialing(func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			return &stale{conn, &now}, err
		})}
		t.Cleanup(inner.CloseIdleConnections)
		return withoutTLS(inner), func() { now.Store(true) }
	},
	"http1": func(t *testing.T, server *httptest.Server) (*Transport, func()) {
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}
		way := withoutTLS(nil)
		way.carrier.http1 = http1.New(&reverseproxy.HTTPTransport{Versions: []string{"1.1"}, Transport: &http.Transport{DialContext: socket.Dialing(dial)}})
		t.Cleanup(way.carrier.http1.Close)
		return way, server.CloseClientConnections
	},
}

func withoutTLS(inner http.RoundTripper) *Transport {
	return newTransport(inner, func(t *Transport) { t.service.base = &url.URL{Scheme: "http", Host: "provider.example"} })
}

// A connection that had ended while it was idle once failed the request that was sent on it,
// although its body was in memory: with 502 behind 1 to 5 % of the streams of llama.cpp's
// server, which closes its connections without a header that announces it. A request is sent
// again once, and only if the connection was used before and no byte of an answer has arrived.
func TestARequestOnAConnectionThatHasEndedIsSentAgainOnce(t *testing.T) {
	const begun = "HTTP/1.1 200 OK\r\nContent-Type:"
	for _, test := range []struct {
		name   string
		format translate.Format // of the client
		dead   bool             // the connection of the first request cannot be written to
		ends   int              // requests after the first whose connection the provider closes
		sends  string           // what it sends before
		header string           // added by the configuration
		sent   int              // how often the provider gets the request
		works  bool
	}{
		{"nothing was written", translate.Chat, true, 0, "", "", 1, true},
		{"nothing of a translated one was written", translate.Messages, true, 0, "", "", 1, true},
		{"closed", translate.Chat, false, 1, "", "", 2, true},
		{"closed behind a translated one", translate.Messages, false, 1, "", "", 2, true},
		{"closed twice", translate.Chat, false, 9, "", "", 2, false},
		{"closed within the answer", translate.Chat, false, 9, begun, "", 1, false},
		{"closed, with a key", translate.Chat, false, 9, "", "Idempotency-Key", 2, false},
		{"closed, with another key", translate.Chat, false, 9, "", "X-Idempotency-Key", 2, false},
	} {
		for name, way := range ways {
			t.Run(test.name+" by "+name, func(t *testing.T) {
				var ends atomic.Int64
				taken := make(chan string, 20)
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					taken <- string(body)
					if ends.Add(-1) >= 0 {
						conn, _, _ := http.NewResponseController(w).Hijack()
						_, _ = io.WriteString(conn, test.sends)
						_ = conn.Close()
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, chunkText+chunkFinish+done)
				}))
				defer server.Close()
				transport, end := way(t, server)
				ask := func() (*exchange.Result, error) {
					a := attemptFor(t, test.format, test.format == translate.Chat)
					a.Format = formats.Of(translate.Chat)
					c := &exchange.Conduit{Attempt: *a}
					r := (&http.Request{URL: new(url.URL), Header: http.Header{}}).WithContext(exchange.WithConduit(context.Background(), c))
					if test.header != "" {
						r.Header.Set(test.header, "k")
					}
					res, err := transport.RoundTrip(r)
					if err != nil {
						return &c.Result, err
					}
					_, err = io.Copy(io.Discard, res.Body)
					require.NoError(t, err)
					return &c.Result, res.Body.Close()
				}
				_, err := ask()
				require.NoError(t, err)
				if test.dead {
					end()
				}
				ends.Store(int64(test.ends))
				result, err := ask()
				assert.Equal(t, test.works, err == nil, "%v", err)
				assert.Equal(t, test.works, result.Whole())
				require.Len(t, taken, 1+test.sent)
				first := <-taken
				for range test.sent {
					assert.Equal(t, first, <-taken, "the whole body is sent again")
				}
			})
		}
	}
}

// On a new connection, the provider has most probably begun to work on a request before it
// closes the connection, so that a second request would cost twice.
func TestARequestOnANewConnectionIsSentOnce(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var taken atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				taken.Add(1)
				panic(http.ErrAbortHandler)
			}))
			defer server.Close()
			transport, _ := way(t, server)
			assert.Error(t, carry(t, transport, attemptFor(t, translate.Chat, true)).err)
			assert.EqualValues(t, 1, taken.Load())
		})
	}
}

// TestAPayloadIsReadFromItsBeginningEveryTime covers bodies with edits, whose
// parts a reader consumes.
func TestAPayloadIsReadFromItsBeginningEveryTime(t *testing.T) {
	a := attemptFor(t, translate.Chat, false)
	a.Model = "another"
	lease := exchange.NewLease()
	a.Exchange.Request.Lease = lease
	prepared, fault := prepare(a, 0, new(Transport), unchanged)
	require.Nil(t, fault)
	p := prepared.payload
	var first string
	for range 3 {
		body, err := p.Reopen()
		require.NoError(t, err)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		require.NoError(t, body.Close(), "a second Close has no effect")
		if first == "" {
			first = string(text)
		}
		assert.Equal(t, first, string(text))
		assert.Contains(t, string(text), "another")
		assert.EqualValues(t, len(text), p.Length())
	}
	lease.Release()
}
