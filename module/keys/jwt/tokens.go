package jwt

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/issuer"
)

func init() { caddy.RegisterModule(new(Tokens)) }

// Tokens is a key source for the tokens of one issuer. A token is in the headers of keys.
type Tokens struct {
	// Issuer is the value of the claim "iss", an https address. Its discovery document
	// (OpenID Connect Discovery 1.0) names the keys of the issuer. An http address is
	// accepted only on this machine. Required.
	Issuer string `json:"issuer"`

	// Audience is the value that the claim "aud" must be or contain. Required, since
	// otherwise every token of the issuer would be a key of the gateway.
	Audience string `json:"audience"`

	// Audiences are further values, one of which suffices in place of Audience: such as the addresses of MCP
	// servers, which their clients ask issuers for. Default: none.
	Audiences []string `json:"audiences,omitempty"`

	// JWKS is where the keys of the issuer are, in place of those that the discovery
	// document names: an https address, or the absolute path of a file, which is read again
	// when it changes. Default: the discovery document of the issuer.
	JWKS string `json:"jwks,omitempty"`

	// Name is the claim that identifies the subject of a token, in logs, limits and the
	// ledger. Issuers must not let subjects choose its value. Default: "sub".
	Name string `json:"name,omitempty"`

	// Owner is the claim with the owner of the key, such as "email", which counts only if
	// the issuer has verified it. Default: no owner.
	Owner string `json:"owner,omitempty"`

	// Groups are the groups that admit tokens; the first that matches decides. Required.
	Groups []Group `json:"groups"`

	// GroupClaim is the claim with the groups of a subject: a list of texts, or a text of
	// words. Dots lead into objects: "realm_access.roles". Default: "groups".
	GroupClaim string `json:"group_claim,omitempty"`

	prefix string // of the ids of keys
	rights []aigateway.Key
	remote issuer.Remote
	known  cache
	logger *zap.Logger
}

// Group admits the tokens of a group.
type Group struct {
	// Name is the name of the group at the issuer; "*" matches every token. A name that
	// ends in "*" matches its beginning, such as "repo:acme/*".
	Name string `json:"name"`

	// Models are the model names, as clients use them, that the tokens may use. A "*"
	// matches any characters. Default: all models.
	Models []string `json:"models,omitempty"`

	// MCP are the servers of the Model Context Protocol that the tokens may use: github for all that
	// the server offers, github/search_* for some of its tools. Default: none.
	MCP []string `json:"mcp,omitempty"`

	// Limit is the name of the limit of the tokens. Default: none.
	Limit string `json:"limit,omitempty"`
}

// leeway is the difference of clocks that is accepted.
const leeway = time.Minute

// CaddyModule returns the module information.
func (*Tokens) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.keys.jwt", New: func() caddy.Module { return new(Tokens) }}
}

// Provision checks the configuration, and follows the file with the keys of the issuer.
func (t *Tokens) Provision(ctx caddy.Context) error {
	if err := t.check(); err != nil {
		return err
	}
	t.logger = ctx.Logger()
	t.prefix = "jwt:" + strings.TrimPrefix(strings.TrimPrefix(t.Issuer, "https://"), "http://") + ":"
	for _, g := range t.Groups {
		key := aigateway.Key{ID: "jwt:" + g.Name, Limit: g.Limit}
		for _, model := range g.Models {
			pattern, err := aigateway.ParsePattern(model)
			if err != nil {
				return fmt.Errorf("group %s: models: %w", g.Name, err)
			}
			key.Models = append(key.Models, pattern)
		}
		var err error
		if key.Models, err = aigateway.WithServers(key.Models, g.MCP); err != nil {
			return fmt.Errorf("group %s: mcp: %w", g.Name, err)
		}
		t.rights = append(t.rights, key)
	}
	t.remote = issuer.Remote{Issuer: t.Issuer, JWKS: t.JWKS, Changed: t.known.clear, Logger: t.logger}
	if strings.HasPrefix(t.JWKS, "/") {
		if err := t.remote.Follow(ctx, t.JWKS); err != nil {
			return fmt.Errorf("jwks: %w", err)
		}
	} else if t.JWKS != "" && !aigateway.IsProtectedAddress(t.JWKS) {
		return errJWKS
	}
	return nil
}

var (
	errIssuer   = errors.New("issuer: must be an https address; an http address is accepted only on this machine")
	errAudience = errors.New("audience: must be set, since otherwise every token of the issuer would be a key")
	errGroups   = errors.New("group: at least one must be set; group * admits every token of the audience")
	errTwice    = errors.New("group: a name is there twice")
	errJWKS     = errors.New("jwks: must be an https address or an absolute path; an http address is accepted only on this machine")
)

func (t *Tokens) check() error {
	if !aigateway.IsProtectedAddress(t.Issuer) {
		return errIssuer
	}
	if t.Audience == "" || slices.Contains(t.Audiences, "") {
		return errAudience
	}
	if len(t.Groups) == 0 {
		return errGroups
	}
	seen := make(map[string]bool)
	for _, g := range t.Groups {
		if g.Name == "" || seen[g.Name] {
			return errTwice
		}
		seen[g.Name] = true
	}
	return nil
}

// Lookup implements aigateway.KeySource. It finds tokens that were verified before.
func (t *Tokens) Lookup(digest aigateway.Digest) *aigateway.Key {
	return t.known.get(digest, time.Now())
}

// IssuedBy implements aigateway.IssuedSource.
func (t *Tokens) IssuedBy() string { return t.Issuer }

// Rights implements aigateway.TokenSource.
func (t *Tokens) Rights() iter.Seq[*aigateway.Key] {
	return func(yield func(*aigateway.Key) bool) {
		for i := range t.rights {
			if !yield(&t.rights[i]) {
				return
			}
		}
	}
}

// Verify implements aigateway.TokenSource.
func (t *Tokens) Verify(ctx context.Context, credential string) (*aigateway.Key, error) {
	token, err := jwt.ParseSigned(credential, issuer.Algorithms)
	if err != nil {
		return nil, t.unreadable(credential)
	}
	if !t.issued(token) {
		return nil, nil
	}
	if err := t.verify(ctx, token, credential); err != nil {
		return nil, err
	}
	all, expiry, err := t.validate(token)
	if err != nil {
		return nil, err
	}
	key, err := t.key(all)
	if err != nil {
		return nil, err
	}
	key.Digest = sha256.Sum256([]byte(credential))
	t.known.put(key, time.Now(), expiry.Add(leeway))
	return key, nil
}

// issued reports whether a token names the issuer, which its signature must show yet.
func (t *Tokens) issued(token *jwt.JSONWebToken) bool {
	var claims struct {
		Issuer string `json:"iss"`
	}
	return token.UnsafeClaimsWithoutVerification(&claims) == nil && claims.Issuer == t.Issuer
}

// unreadable returns the error for a credential that is not a token with an accepted
// algorithm; nil if it is no token of the issuer.
func (t *Tokens) unreadable(credential string) error {
	if token, err := jwt.ParseSigned(credential, refused); err != nil || !t.issued(token) {
		return nil
	}
	return &aigateway.TokenError{Problem: "its algorithm is not accepted"}
}

// refused are algorithms that are not accepted, so that their error has a reason.
var refused = []jose.SignatureAlgorithm{jose.HS256, jose.HS384, jose.HS512, jose.RS384, jose.RS512, jose.PS384, jose.PS512, jose.ES512}

// verify verifies the signature of a token of the issuer.
func (t *Tokens) verify(ctx context.Context, token *jwt.JSONWebToken, credential string) error {
	if len(token.Headers) != 1 {
		return &aigateway.TokenError{Problem: "it must have one signature"}
	}
	switch kind, _ := token.Headers[0].ExtraHeaders[jose.HeaderType].(string); strings.ToLower(kind) {
	case "", "jwt", "at+jwt", "application/at+jwt":
	default:
		return &aigateway.TokenError{Problem: "its type is not that of an access token"}
	}
	switch _, err := t.remote.VerifySignature(ctx, credential); {
	case errors.Is(err, issuer.ErrSignature):
		return &aigateway.TokenError{Problem: "its signature does not match"}
	case err != nil:
		return aigateway.ErrKeysUnavailable
	}
	return nil
}

// validate checks the claims of a token whose signature is valid, and returns them and its expiry.
func (t *Tokens) validate(token *jwt.JSONWebToken) (all aigateway.Claims, expiry time.Time, err error) {
	var claims jwt.Claims
	if err = token.UnsafeClaimsWithoutVerification(&claims, &all); err == nil {
		err = claims.ValidateWithLeeway(jwt.Expected{Issuer: t.Issuer, AnyAudience: append(jwt.Audience{t.Audience}, t.Audiences...), Time: time.Now()}, leeway)
	}
	var problem string
	switch {
	case errors.Is(err, jwt.ErrInvalidAudience):
		problem = "it is for another audience"
	case errors.Is(err, jwt.ErrExpired):
		problem = "it has expired"
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		problem = "it is not valid yet"
	case err != nil:
		problem = "its claims are not those of a token"
	case claims.Expiry == nil:
		problem = "it has no expiry"
	default:
		return all, claims.Expiry.Time(), nil
	}
	return nil, expiry, &aigateway.TokenError{Problem: problem, Expired: errors.Is(err, jwt.ErrExpired)}
}
