package mcp

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An agent begins with several requests at once, each of which asked the issuer for a token of the same user. The
// first client may leave before the answer.
func TestRequestsOfAUserAtOnceAskTheIssuerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		answer := make(chan struct{})
		x := &exchanger{
			Exchange: &Exchange{Address: "https://login.test/token", Client: "gateway"}, known: make(map[[sha256.Size]byte]issued),
			client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				asked.Add(1)
				select {
				case <-answer:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				text := `{"access_token":"t","token_type":"Bearer","expires_in":3600}`
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
			})},
		}
		secret := aigateway.Secret("s")
		x.secret.Store(&secret)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := x.token(ctx, "alice")
			left <- err
		}()
		synctest.Wait()
		tokens := make(chan string, 8)
		for range cap(tokens) {
			go func() {
				token, _ := x.token(t.Context(), "alice")
				tokens <- token
			}()
		}
		go func() { _, _ = x.token(t.Context(), "bob") }()
		synctest.Wait()
		leave()
		assert.ErrorIs(t, <-left, context.Canceled)
		close(answer)
		for range cap(tokens) {
			assert.Equal(t, "t", <-tokens)
		}
		synctest.Wait()
		assert.EqualValues(t, 2, asked.Load(), "one for each user")
	})
}

// A negative time beyond the range of durations became one of centuries.
func TestTheTimeOfATokenIsBounded(t *testing.T) {
	now := time.Now()
	for seconds, want := range map[string]time.Duration{"3600": time.Hour, "1e300": 24 * time.Hour, "-1e300": 0, "-1": 0, "null": 0} {
		got, err := readToken(http.StatusOK, []byte(`{"access_token":"t","token_type":"Bearer","expires_in":`+seconds+`}`), now)
		require.NoError(t, err, seconds)
		assert.Equal(t, now.Add(want-spare), got.expires, seconds)
	}
}

// The server got the name of the user in place of the credential.
func TestTheHeaderOfTheCallerIsNotThatOfTheCredential(t *testing.T) {
	for header, refused := range map[string]bool{"X-User": false, "x-credential": true, "Accept": true, "X-Own": true, "Mcp-Param-A": true} {
		c := Config{
			Name: "a", Address: "https://a.test", Auth: &Auth{Header: "X-Credential", Secret: "{env.A}"}, Headers: []string{"x-own"},
			Caller: &Identity{Header: header},
		}
		assert.Equal(t, refused, c.Check() != nil, header)
	}
}

// The refusal of a header of the client named none, since the check of the credential came first.
func TestAHeaderOfACredentialIsNotPassedOn(t *testing.T) {
	c := Config{Name: "a", Address: "https://a.test", Auth: &Auth{Secret: "{env.A}"}, Headers: []string{"authorization"}}
	assert.EqualError(t, c.Check(), "headers: 'authorization' cannot be passed on")
}
