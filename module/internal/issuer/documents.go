package issuer

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

const (
	maxAnswer   = 1 << 20         // bytes of an answer of an issuer
	callTimeout = 5 * time.Second // of a request to an issuer
	shortestRSA = 2048            // bits
	mostKeys    = 100
)

// Client calls issuers.
var Client = outbound.Client(callTimeout, nil)

// Documents are what an issuer publishes. The keys are always there, the discovery document only
// if it names their address.
type Documents struct {
	oidc.ProviderConfig
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	SendsIssuer bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207

	keys []jose.JSONWebKey
	read time.Time
}

// DocumentError is the error of documents that can be read, but must not be used.
type DocumentError string

// Error implements error.
func (e DocumentError) Error() string { return string(e) }

const (
	errAnother DocumentError = "the discovery document is that of another issuer"
	errAddress DocumentError = "the discovery document has no https address of keys"
	errNoKeys  DocumentError = "there are no keys with which tokens can be verified"
)

// read reads the documents of the issuer.
func (r *Remote) read(ctx context.Context) (*Documents, error) {
	d := &Documents{ProviderConfig: oidc.ProviderConfig{JWKSURL: r.JWKS}}
	if r.JWKS == "" {
		text, _, err := Get(ctx, strings.TrimSuffix(r.Issuer, "/")+"/.well-known/openid-configuration", nil)
		if err == nil {
			err = json.Unmarshal(text, d)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading discovery document: %w", err)
		case d.IssuerURL != r.Issuer:
			return nil, errAnother
		case !aigateway.IsProtectedAddress(d.JWKSURL):
			return nil, errAddress
		}
	}
	text, _, err := Get(ctx, d.JWKSURL, nil)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	d.read = time.Now()
	d.keys, err = readKeys(text)
	return d, err
}

// Get returns the answer of an issuer at an address, which must have the status 200, and its type.
func Get(ctx context.Context, address string, header http.Header) (text []byte, contentType string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header = header
	res, err := Client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s answered with status %d", address, res.StatusCode)
	}
	text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("%s answered with more than %d bytes", address, maxAnswer)
	}
	return text, res.Header.Get("Content-Type"), err
}

// readKeys reads a set of keys, and leaves out those that are not for signatures. Keys of
// unknown kinds do not spoil the others.
func readKeys(text []byte) (keys []jose.JSONWebKey, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		isForSignatures := json.Unmarshal(raw, &key) == nil && key.Valid() && (key.Use == "" || key.Use == "sig")
		if key = key.Public(); isForSignatures && isStrong(key.Key) && len(keys) < mostKeys {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

// isStrong reports whether a key is a public key that is long enough.
func isStrong(key any) bool {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= shortestRSA
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
