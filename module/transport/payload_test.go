package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
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
		return 0, errors.New("broken pipe")
	}
	return s.Conn.Write(p)
}

// kept is an http transport to a server whose connection is used again, and
// becomes stale with now.
func kept(t *testing.T, server *httptest.Server, now *atomic.Bool) http.RoundTripper {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		return &stale{conn, now}, err
	}
	inner := &http.Transport{DialContext: dial}
	t.Cleanup(inner.CloseIdleConnections)
	return inner
}

// TestOnlyWhatWasNeverTakenIsSentAgain ensures that nobody pays twice. A bug was
// here: a connection that died while it was idle cost the request that found out,
// though nothing of it was written and its body was in memory.
func TestOnlyWhatWasNeverTakenIsSentAgain(t *testing.T) {
	translated := func() *exchange.Attempt {
		a := attemptFor(t, translate.Messages, false)
		a.Format = formats.Of(translate.Chat)
		return a
	}
	asItIs := func() *exchange.Attempt { return attemptFor(t, translate.Chat, true) }
	for _, test := range []struct {
		name    string
		attempt func() *exchange.Attempt
		dead    bool   // the connection cannot be written to; if false, it is closed after the request
		header  string // added by the configuration
	}{
		{"nothing was written", asItIs, true, ""},
		{"nothing of a translated one was written", translated, true, ""},
		{"it was taken", asItIs, false, ""},
		{"a translated one was taken", translated, false, ""},
		{"it was taken, with a key", asItIs, false, "Idempotency-Key"},
		{"it was taken, with another key", asItIs, false, "X-Idempotency-Key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var dead, hangUp atomic.Bool
			taken := make(chan string, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				taken <- string(body)
				if hangUp.Load() {
					panic(http.ErrAbortHandler)
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, chunkText+chunkFinish+done)
			}))
			defer server.Close()
			transport := newTransport(kept(t, server, &dead))
			transport.base = &url.URL{Scheme: "http", Host: "provider.example"}
			ask := func(c *exchange.Conduit) error {
				r := (&http.Request{URL: new(url.URL), Header: http.Header{}}).WithContext(exchange.WithConduit(context.Background(), c))
				if test.header != "" {
					r.Header.Set(test.header, "k")
				}
				res, err := transport.RoundTrip(r)
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, res.Body)
				require.NoError(t, err)
				return res.Body.Close()
			}
			require.NoError(t, ask(&exchange.Conduit{Attempt: *test.attempt()}))
			dead.Store(test.dead)
			hangUp.Store(!test.dead)
			c := &exchange.Conduit{Attempt: *test.attempt()}
			err := ask(c)
			assert.Equal(t, test.dead, err == nil)
			assert.Equal(t, test.dead, c.Result.Whole())
			require.Len(t, taken, 2, "the provider has read each request once")
			assert.Equal(t, <-taken, <-taken, "the whole body is sent again")
		})
	}
}

// TestAPayloadIsReadFromItsBeginningEveryTime covers bodies with edits, whose
// parts a reader consumes.
func TestAPayloadIsReadFromItsBeginningEveryTime(t *testing.T) {
	a := attemptFor(t, translate.Chat, false)
	a.Model = "another"
	lease := exchange.NewLease()
	a.Exchange.Lease = lease
	prepared, fault := (&call{t: newTransport(nil), attempt: a}).prepare()
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
