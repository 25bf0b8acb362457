package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// configured returns the transport of a configuration, and what ends the configuration.
func configured(t *testing.T, server *httptest.Server) (*Transport, func()) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	config, err := json.Marshal(aigateway.Upstream{BaseURL: server.URL})
	require.NoError(t, err)
	transport, err := ctx.LoadModuleByID("http.reverse_proxy.transport.ai", config)
	require.NoError(t, err)
	return transport.(*Transport), cancel
}

// Nothing closed idle connections at the end of their configuration, because Caddy calls a
// function of OnCancel only for the context that is not a copy. They were kept for two minutes,
// those of streams that ended later, too.
func TestAConfigurationThatHasEndedKeepsNoConnections(t *testing.T) {
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunkText+chunkFinish+done)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	defer server.Close()
	transport, end := configured(t, server)
	_, err := io.ReadAll(streamed(t, transport))
	require.NoError(t, err)
	end()
	<-closed
}

// If one connection has ended while it was idle, the others probably have, too: a request that
// was sent again on one of them failed.
func TestARequestIsSentAgainOnANewConnection(t *testing.T) {
	release := make(chan struct{})
	addresses := make(chan string, 9) // the client's addresses
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		addresses <- r.RemoteAddr
		if requests.Add(1) == 3 {
			panic(http.ErrAbortHandler) // closes the connection
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunkText)
		_ = http.NewResponseController(w).Flush()
		<-release
		_, _ = io.WriteString(w, chunkFinish+done)
	}))
	defer server.Close()
	transport, _ := configured(t, server)
	a, b := streamed(t, transport), streamed(t, transport)
	close(release)
	for _, stream := range []io.Reader{a, b} {
		_, err := io.ReadAll(stream)
		require.NoError(t, err)
	}
	_, err := io.ReadAll(streamed(t, transport))
	require.NoError(t, err)
	require.Len(t, addresses, 4)
	first := []string{<-addresses, <-addresses}
	assert.Contains(t, first, <-addresses)
	assert.NotContains(t, first, <-addresses)
}

// Such a connection does not follow the context of its request: the call closes it.
func TestACallWithoutTLSEndsItsConnection(t *testing.T) {
	for name, test := range map[string]struct {
		attempt *exchange.Attempt
		begin   string // of the answer
		leaves  bool   // the client, after begin
		limit   time.Duration
	}{
		"the client leaves before the answer": {attempt: attemptFor(t, translate.Chat, true), leaves: true},
		"the client leaves within it":         {attempt: attemptFor(t, translate.Chat, true), begin: chunkText, leaves: true},
		"the provider is silent":              {attempt: attemptFor(t, translate.Chat, true), begin: ": wait\n\n", limit: time.Millisecond},
		"another part of the call fails":      {attempt: fanned(t, true, "waits", "fails")},
	} {
		t.Run(name, func(t *testing.T) {
			waits, ended := make(chan struct{}), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "fails") {
					<-waits
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				if test.begin != "" {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, test.begin)
					_ = http.NewResponseController(w).Flush()
				}
				close(waits)
				<-r.Context().Done()
				close(ended)
			}))
			defer server.Close()
			transport, _ := configured(t, server)
			transport.FirstEventTimeout = cmp.Or(caddy.Duration(test.limit), transport.FirstEventTimeout)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			go func() {
				if <-waits; test.leaves {
					leave()
				}
			}()
			if res, err := transport.Ask(ctx, &exchange.Conduit{Attempt: *test.attempt}); err == nil {
				_, err = io.ReadAll(res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
			}
			<-ended
		})
	}
}
