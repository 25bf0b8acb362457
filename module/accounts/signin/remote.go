package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

const (
	maxDocument  = 1 << 20          // bytes of an answer of an issuer
	fetchTimeout = 5 * time.Second  // of a request to an issuer
	finishWithin = 15 * time.Second // all requests of a sign-in
	refreshAfter = time.Hour        // the age at which the discovery document is read again
	retryAfter   = 5 * time.Second  // between two failures to read it
)

// client calls issuers, and reads bounded answers.
var client = outbound.Client(fetchTimeout, bounded{http.DefaultTransport})

// bounded is a transport whose answers have at most maxDocument bytes.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxDocument)
	}
	return res, err
}

// remote is the discovery document of an issuer, which is read when the first person signs in.
type remote struct {
	issuer string
	logger *zap.Logger

	mu    sync.Mutex // guards the fields below; is held while the document is read
	known *endpoints // nil before the first success
	read  time.Time
	tried time.Time
	err   error // of the last reading
}

// endpoints are the contents of the discovery document of an issuer.
type endpoints struct {
	*oidc.Provider
	JWKS     string   `json:"jwks_uri"`
	Methods  []string `json:"token_endpoint_auth_methods_supported"`
	SendsIss bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// get returns the endpoints of the issuer. A document that cannot be read again stays valid.
func (r *remote) get(ctx context.Context) (*endpoints, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.known != nil && now.Sub(r.read) < refreshAfter {
		return r.known, nil
	}
	if r.tried.IsZero() || now.Sub(r.tried) >= retryAfter {
		found, err := discover(context.WithoutCancel(ctx), r.issuer) // others wait for it, too
		r.tried, r.err = time.Now(), err
		if err != nil {
			r.logger.Error("discovery document of the issuer cannot be read", zap.Error(err))
		} else {
			r.known, r.read = found, r.tried
		}
	}
	if r.known == nil {
		return nil, r.err
	}
	return r.known, nil
}

var errAddresses = errors.New("the discovery document has an address that is not https")

// discover reads the discovery document of an issuer.
func discover(ctx context.Context, issuer string) (*endpoints, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, client), fetchTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, issuer)
	var mismatch *oidc.IssuerMismatchError
	if errors.As(err, &mismatch) {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %.300s", ErrAway, err.Error()) // the error may contain the whole answer
	}
	e := &endpoints{Provider: provider}
	if err := provider.Claims(e); err != nil {
		return nil, fmt.Errorf("%w: reading discovery document: %w", ErrAnswer, err)
	}
	for _, address := range []string{provider.Endpoint().AuthURL, provider.Endpoint().TokenURL, e.JWKS} {
		if !aigateway.IsProtectedAddress(address) {
			return nil, fmt.Errorf("%w: %w", ErrAnswer, errAddresses)
		}
	}
	return e, nil
}

// style returns how the client authenticates itself. Trying both ways would use up the code.
func (e *endpoints) style(secret bool) oauth2.AuthStyle {
	for _, method := range e.Methods {
		if secret && method == "client_secret_basic" {
			return oauth2.AuthStyleInHeader
		}
	}
	if secret && len(e.Methods) == 0 { // the default of the specification
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// userInfo returns the claims of the userinfo endpoint. [oidc.Provider.UserInfo] refuses an answer
// with a boolean in words that it does not know, whether the claim matters or not.
func (e *endpoints) userInfo(ctx context.Context, token *oauth2.Token) (claims aigateway.Claims, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.UserInfoEndpoint(), nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(req)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/jwt" {
		if body, err = oidc.NewRemoteKeySet(ctx, e.JWKS).VerifySignature(ctx, string(body)); err != nil {
			return nil, fmt.Errorf("verifying the signature: %w", err)
		}
	}
	return claims, json.Unmarshal(body, &claims)
}
