package outbound_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

// stubborn starts a server that writes a beginning to each connection, and then pieces until the
// client has closed the connection, which it reports.
func stubborn(t *testing.T, withTLS bool, beginning, piece string) (server *httptest.Server, closed chan struct{}) {
	closed = make(chan struct{}, 10)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		_, err = io.WriteString(conn, beginning)
		for err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if _, err = conn.Read(make([]byte, 64)); err == nil || isTimeout(err) {
				_, err = io.WriteString(conn, piece)
			}
		}
		if encrypted, ok := conn.(*tls.Conn); ok {
			conn = encrypted.NetConn() // the end of TLS would be that of an answer without a length
		}
		_ = conn.Close()
		closed <- struct{}{}
	}))
	if withTLS {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, closed
}

func isTimeout(err error) bool {
	var netError net.Error
	return errors.As(err, &netError) && netError.Timeout()
}

// A server that answered 101 was waited for without end, whatever the timeout: a sign-in got no
// answer, a call no fallback, and a key lost its slots of concurrent requests.
func TestACallAndItsAnswerEndWithinTheTimeout(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for name, test := range map[string]struct {
		beginning, piece string
		informational    bool
	}{
		"101":                       {beginning: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", informational: true},
		"101 without an upgrade":    {beginning: "HTTP/1.1 101 S\r\n\r\n", informational: true},
		"101 and then an answer":    {beginning: "HTTP/1.1 101 S\r\n\r\n" + head + "Content-Length: 2\r\n\r\n{}", informational: true},
		"101 and a trickle":         {beginning: "HTTP/1.1 101 S\r\n\r\n", piece: "{", informational: true},
		"a status below all others": {beginning: "HTTP/1.1 099 X\r\n\r\n", informational: true},
		"no status":                 {beginning: "HTTP/1.1 000 X\r\n\r\n", informational: true},
		"nothing":                   {},
		"a line of the head only":   {beginning: "HTTP/1.1 200 OK\r\n"},
		"a head that goes on":       {beginning: head, piece: "X-Filler: x\r\n"},
		"100 again and again":       {piece: "HTTP/1.1 100 Continue\r\n\r\n"},
		"no body":                   {beginning: head + "Content-Length: 2\r\n\r\n"},
		"a body that trickles":      {beginning: head + "\r\n", piece: " "},
		"chunks that trickle":       {beginning: head + "Transfer-Encoding: chunked\r\n\r\n", piece: "1\r\n \r\n"},
	} {
		for _, withTLS := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server, closed := stubborn(t, withTLS, test.beginning, test.piece)
				timeout := 200 * time.Millisecond
				if test.informational {
					timeout = time.Hour // it is refused at once
				}
				client := outbound.Client(timeout, server.Client().Transport)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
				require.NoError(t, err)
				res, err := client.Do(r)
				if err == nil {
					_, err = io.ReadAll(res.Body)
					_ = res.Body.Close()
				}
				require.Error(t, err)
				assert.Equal(t, test.informational, errors.Is(err, outbound.ErrInformational), err)
				<-closed
			})
		}
	}
}

func TestClientsFollowNoRedirects(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	res, err := outbound.Client(time.Hour, nil).Get(server.URL)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equal(t, http.StatusTemporaryRedirect, res.StatusCode)
}
