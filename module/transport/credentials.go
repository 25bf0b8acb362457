package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
)

// credentials are the credentials for a provider.
type credentials struct {
	header string                             // that has the credential
	keys   []atomic.Pointer[aigateway.Secret] // in the order of Upstream.APIKeys

	// token returns the token in place of a key; nil if the keys are the credentials.
	token  func(context.Context, aigateway.TokenRequest) (aigateway.Secret, error)
	client *http.Client // for tokens
}

// follow sets the keys of references, and follows their files until ctx ends.
func (c *credentials) follow(ctx caddy.Context, references []string) error {
	c.keys = make([]atomic.Pointer[aigateway.Secret], len(references))
	config := exchange.CredentialsFrom(ctx)
	logger := ctx.Logger().With(zap.String("provider", config.Provider))
	for i, reference := range references {
		err := secrets.Follow(ctx, reference, logger, func(secret aigateway.Secret) error {
			if c.token == nil && strings.ContainsFunc(string(secret), unicode.IsControl) {
				return errControl
			}
			if c.keys[i].Swap(&secret) != nil {
				config.Changed(reference)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("api_key: %w", err)
		}
	}
	return nil
}

// errControl is the error for a credential that no header can contain. Without it, every
// call would fail.
var errControl = errors.New("an API key has one line, without control characters")

// key returns the key with an index, without "Bearer"; "" if there are none.
func (c *credentials) key(index int) string {
	if len(c.keys) == 0 {
		return ""
	}
	return string(*c.keys[index].Load())
}

// maxTokenWait is the longest time for which a call waits for a token.
const maxTokenWait = 20 * time.Second

var errTokenWait = errors.New("no token within 20s")

// get returns the credential for requests with the key of an index: a token, if the provider
// has them, else the key; "" if there is none. refused is a token that the provider has refused.
func (c *credentials) get(ctx context.Context, index int, refused string) (string, error) {
	if c.token == nil {
		return c.key(index), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTokenWait, errTokenWait)
	defer cancel()
	token, err := c.token(ctx, aigateway.TokenRequest{
		Key: aigateway.Secret(c.key(index)), Refused: aigateway.Secret(refused), Client: c.client,
	})
	return string(token), err
}

// set sets the header of a credential, unless it is "".
func (c *credentials) set(h http.Header, credential string) {
	switch {
	case credential == "":
	case c.header == "Authorization":
		h[c.header] = []string{"Bearer " + credential}
	default:
		h[c.header] = []string{credential}
	}
}
