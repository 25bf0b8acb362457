package faults_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// switching starts a server that answers every request with a head and then with silence, until
// its caller closes the connection, which it reports.
func switching(t *testing.T, withTLS bool, head string) (server *httptest.Server, closed chan struct{}) {
	closed = make(chan struct{}, 100)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		_, _ = io.WriteString(conn, head)
		_, _ = io.Copy(io.Discard, buffered)
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

// A provider with TLS that answered 101 was waited for without end: the fallback was not asked,
// the connection stayed open when the client had left, and the key lost the slots of its calls.
func TestAnInformationalAnswerIsNoAnswer(t *testing.T) {
	heads := []string{
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
		"HTTP/1.1 101 S\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n",
		"HTTP/1.1 099 X\r\n\r\n",
	}
	for i, head := range heads {
		plain, plainClosed := switching(t, false, head)
		secured, securedClosed := switching(t, true, head)
		trust := "transport http {\ntls_trust_pool inline {\ntrust_der " + base64.StdEncoding.EncodeToString(secured.Certificate().Raw) + "\n}\n}"
		spare := gatewaytest.NewProvider(t)
		for way, w := range map[string]struct {
			lines  string
			closed chan struct{}
		}{
			"without TLS":                   {"base_url " + plain.URL + "/v1", plainClosed},
			"without TLS, by net/http":      {"base_url " + plain.URL + "/v1\ntransport http {\nwrite_timeout 1h\n}", plainClosed},
			"without TLS, by reverse_proxy": {"to " + plain.Listener.Addr().String() + "\nlb_policy first", plainClosed},
			"with TLS":                      {"base_url " + secured.URL + "/v1\n" + trust, securedClosed},
			"with TLS, by reverse_proxy":    {"to " + secured.URL + "\n" + trust, securedClosed},
		} {
			t.Run(fmt.Sprintf("%d %s", i, way), func(t *testing.T) {
				s := site.Start(t, site.Steady, "limit few {\nconcurrent 1\n}",
					"provider odd vllm {\n"+site.EveryFormat+"models odd-*\n"+w.lines+"\n}", site.Direct.Provider("spare", spare, "models spare-*"),
					"model m {\nto odd/m1\nto spare/m2\n}")
				for _, path := range site.ClientPaths {
					for _, streaming := range []bool{false, true} {
						answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
						require.Equal(t, http.StatusOK, answer.Status, "%s: %s", path, answer.Body)
						<-w.closed
						answer = s.Ask(path, site.BodyFor(path, "odd-1", "hello", streaming))
						assert.Equal(t, http.StatusBadGateway, answer.Status, "%s: %s", path, answer.Body)
						<-w.closed
					}
				}
			})
		}
	}
}
