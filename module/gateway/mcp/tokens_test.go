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

	"github.com/stretchr/testify/assert"

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
