//go:build !race

// These tests run without the race detector, because of a race in Caddy 2.11.9: for every
// event of a certificate, Caddy copies its TLS app (TLS.CaddyModule has a value receiver),
// on a goroutine that runs while TLS.Start may still write to the app. Other tests run the
// same code of the gateway with the detector.

package access_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go/http3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const encryptedSite = `{
	skip_install_trust
	local_certs
	http_port PORT(http)
	https_port PORT(site)
}

localhost {
	ai_gateway {
		provider demo {
			pace 1ms
		}
		key client {env.CLIENT_KEY}
	}
}
`

// startEncrypted runs the site and waits for its certificate.
func startEncrypted(t *testing.T) *site.Site {
	t.Helper()
	s := site.StartCaddyfile(t, encryptedSite)
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "added certificate to cache"))
	return s
}

// trust is the configuration of a client that knows Caddy's own authority.
func trust(t *testing.T, s *site.Site) *tls.Config {
	t.Helper()
	root, err := os.ReadFile(filepath.Join(s.Dir, "pki", "authorities", "local", "root.crt"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(root))
	return &tls.Config{RootCAs: pool, ServerName: "localhost"}
}

// transports are the three versions of HTTP.
func transports(t *testing.T, s *site.Site) map[int]http.RoundTripper {
	one := &http.Transport{TLSClientConfig: trust(t, s), TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	two := &http.Transport{TLSClientConfig: trust(t, s), ForceAttemptHTTP2: true}
	three := &http3.Transport{TLSClientConfig: trust(t, s)}
	t.Cleanup(func() {
		one.CloseIdleConnections()
		two.CloseIdleConnections()
		assert.NoError(t, three.Close())
	})
	return map[int]http.RoundTripper{1: one, 2: two, 3: three}
}

// TestHTTPSInEveryVersionOfHTTP ensures that HTTPS needs only the name of a site and the
// directive.
func TestHTTPSInEveryVersionOfHTTP(t *testing.T) {
	s := startEncrypted(t)
	base := fmt.Sprintf("https://127.0.0.1:%d", s.Port("site"))
	for major, transport := range transports(t, s) {
		t.Run(fmt.Sprint("HTTP/", major), func(t *testing.T) {
			for _, path := range site.CallPaths {
				for _, streaming := range []bool{false, true} {
					request, err := http.NewRequestWithContext(site.Waiting(t), http.MethodPost, base+path, strings.NewReader(site.BodyFor(path, "demo", "hello", streaming)))
					require.NoError(t, err)
					request.Host = "localhost"
					request.Header.Set("Authorization", "Bearer "+site.ClientKey)
					request.Header.Set("Anthropic-Version", "2023-06-01")
					response, err := transport.RoundTrip(request)
					require.NoError(t, err)
					raw, err := io.ReadAll(response.Body)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
					assert.Equal(t, major, response.ProtoMajor)
					assert.Equal(t, http.StatusOK, response.StatusCode)
					assertCompleteAnswer(t, path, streaming, string(raw))
				}
			}
		})
	}
}

// assertCompleteAnswer checks that the answer is complete for a client.
func assertCompleteAnswer(t *testing.T, path string, streaming bool, body string) {
	t.Helper()
	if streaming {
		got := site.Reply{Body: body}.Read(t, path)
		assert.True(t, got.Complete)
		assert.Contains(t, got.Text(), "hello")
		return
	}
	assert.Contains(t, site.Reply{Body: body}.Text(t, path), "hello")
}

// TestHTTPSIsWherePlainHTTPIsSent ensures that a request with a key to the port of plain
// HTTP is only redirected, and that its body is not read.
func TestHTTPSIsWherePlainHTTPIsSent(t *testing.T) {
	s := startEncrypted(t)
	for _, path := range append(site.CallPaths, "/v1/models") {
		request, err := http.NewRequestWithContext(site.Waiting(t), http.MethodPost, s.URL("http", path), strings.NewReader("{}"))
		require.NoError(t, err)
		request.Host = "localhost"
		response, err := s.Client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusPermanentRedirect, response.StatusCode)
		assert.Equal(t, "https://localhost"+path, response.Header.Get("Location"), "https_port is 443 to the outside")
		assert.Empty(t, response.Header.Get("Request-Id"))
	}
}

func TestHTTPSNeedsACertificateThatIsTrusted(t *testing.T) {
	s := startEncrypted(t)
	stranger := &http.Transport{TLSClientConfig: &tls.Config{ServerName: "localhost"}}
	t.Cleanup(stranger.CloseIdleConnections)
	request, err := http.NewRequestWithContext(site.Waiting(t), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/v1/models", s.Port("site")), nil)
	require.NoError(t, err)
	_, err = stranger.RoundTrip(request)
	var unknown x509.UnknownAuthorityError
	assert.ErrorAs(t, err, &unknown, "Caddy's own authority was installed on this machine")
}

func TestHTTPSMakesTheSessionCookieSecure(t *testing.T) {
	s := site.StartCaddyfile(t, strings.Replace(encryptedSite, "localhost {", "localhost, http://127.0.0.1:PORT(plain) {", 1))
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "added certificate to cache"))
	s.AddUser("alice")
	plain := logIn(s, "plain", "alice", site.Password)
	assert.Regexp(t, `^session=sess_[\w-]{43}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict$`, plain.Header.Get("Set-Cookie"))

	for major, transport := range transports(t, s) {
		s.Client = &http.Client{Transport: transport}
		secure := s.Call(http.MethodPost, fmt.Sprintf("https://localhost:%d/api/user/login", s.Port("site")),
			fmt.Sprintf(`{"username":"alice","password":%q}`, site.Password))
		assert.Equal(t, http.StatusOK, secure.Status, major)
		assert.Contains(t, secure.Header.Get("Set-Cookie"), "; Secure; SameSite=Strict", major)
	}
}
