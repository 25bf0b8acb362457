package postgres

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// pretender starts a server that answers the request for TLS with answer, and then starts
// TLS if the answer is S. It returns the port of the server.
func pretender(t *testing.T, answer string, config *tls.Config) (port string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 8))
			_, _ = conn.Write([]byte(answer))
			if answer == "S" {
				_ = tls.Server(conn, config).Handshake()
			}
			_ = conn.Close()
		}
	}()
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// The errors of the driver contain the address, which was once logged.
func TestFailuresOfTLSHideTheAddress(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	for want, c := range map[string]struct{ answer, mode string }{
		"server refused TLS connection":           {"N", "require"},
		"certificate signed by unknown authority": {"S", "verify-full"},
	} {
		port := pretender(t, c.answer, web.TLS)
		backend := databaseAt(t, "host=127.0.0.1 user=gateway dbname=gateway sslmode="+c.mode+" port="+port)()
		_, err := backend.Connect(t.Context())
		require.Error(t, err)
		err = backend.Explain(err)
		assert.ErrorIs(t, err, aigateway.ErrUnavailable)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "127.0.0")
		assert.NotContains(t, err.Error(), port)
	}
}

// The error of the library contains the host name of the DSN.
func TestCertificateOfAnotherHostHidesOurs(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	err := fmt.Errorf("tls error: %w", web.Certificate().VerifyHostname("db.internal"))
	require.ErrorContains(t, err, "db.internal")
	err = new(server).Explain(err)
	assert.ErrorContains(t, err, "the certificate is for another host")
	assert.NotContains(t, err.Error(), "db.internal")
}
