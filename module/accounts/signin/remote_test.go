package signin

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/oauth2"
)

// documents is a transport that answers with a discovery document, and counts.
type documents struct {
	away  bool
	calls int
}

// RoundTrip implements http.RoundTripper.
func (d *documents) RoundTrip(r *http.Request) (*http.Response, error) {
	d.calls++
	if d.away {
		return nil, io.ErrUnexpectedEOF
	}
	const issuer = "https://login.example.com"
	body := fmt.Sprintf(`{"issuer":"%s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys"}`, issuer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// A gateway that asked once at its start did not start while its issuer was away, or needed a
// restart afterwards.
func TestTheDiscoveryDocumentIsReadWhenItIsNeeded(t *testing.T) {
	transport := &documents{away: true}
	before := client.Transport
	client.Transport = transport
	t.Cleanup(func() { client.Transport = before })
	synctest.Test(t, func(t *testing.T) {
		r := remote{issuer: "https://login.example.com", logger: zap.NewNop()}
		get := func(after time.Duration) error {
			time.Sleep(after) // the fake clock of synctest
			_, err := r.get(t.Context())
			return err
		}
		require.ErrorIs(t, get(0), ErrAway)
		require.ErrorIs(t, get(time.Second), ErrAway)
		assert.Equal(t, 1, transport.calls, "who follows within some seconds gets the answer at once")
		transport.away = false
		require.NoError(t, get(retryAfter))
		require.NoError(t, get(refreshAfter-time.Second))
		assert.Equal(t, 2, transport.calls)
		transport.away = true
		require.NoError(t, get(time.Hour), "a document that was read stays valid")
		require.NoError(t, get(time.Second))
		assert.Equal(t, 3, transport.calls)
		transport.away = false
		require.NoError(t, get(retryAfter))
		assert.Equal(t, 4, transport.calls)
	})
}

// Trying one way after the other uses up the code.
func TestAClientAuthenticatesAsTheIssuerAsks(t *testing.T) {
	const header, body = oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams
	for methods, want := range map[string]oauth2.AuthStyle{
		"": header, "client_secret_basic": header, "client_secret_post": body, "client_secret_post client_secret_basic": header, "private_key_jwt": body,
	} {
		e := endpoints{Methods: strings.Fields(methods)}
		assert.Equal(t, want, e.style(true), methods)
		assert.Equal(t, body, e.style(false), "a public client has no secret to send")
	}
}
