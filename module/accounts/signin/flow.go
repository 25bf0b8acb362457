package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/issuer"
)

// leeway is the difference of clocks that is accepted.
const leeway = time.Minute

// algorithms are the algorithms of signatures that are accepted.
var algorithms = []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.ES384, oidc.EdDSA}

// Start is the beginning of a sign-in.
type Start struct {
	Address string // of the issuer, for the browser
	Ticket  string // secret of the browser, for Finish
}

// Begin begins a sign-in. base is the address of the gateway, as browsers see it.
func (i *Issuer) Begin(ctx context.Context, base string) (Start, error) {
	endpoints, err := i.published(ctx)
	if err != nil {
		return Start{}, err
	}
	ticket := rand.Text() + rand.Text()
	address := i.config(endpoints, base).AuthCodeURL(i.derive(ticket, "state"),
		oidc.Nonce(i.derive(ticket, "nonce")), oauth2.S256ChallengeOption(i.derive(ticket, "verifier")))
	return Start{address, ticket}, nil
}

// derive returns a secret of a sign-in. State, nonce and verifier are derived from the ticket,
// so that no gateway has to remember them, and from the issuer, so that no other one can answer.
func (i *Issuer) derive(ticket, purpose string) string {
	mac := hmac.New(sha256.New, []byte(ticket))
	mac.Write([]byte(purpose + "\x00" + i.Issuer + "\x00" + i.ClientID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (i *Issuer) config(remote *issuer.Documents, base string) *oauth2.Config {
	c := &oauth2.Config{ClientID: i.ClientID, Endpoint: oauth2.Endpoint{AuthURL: remote.AuthURL, TokenURL: remote.TokenURL}, RedirectURL: i.Callback, Scopes: i.Scopes}
	if c.RedirectURL == "" {
		c.RedirectURL = base + i.callbackPath()
	}
	secret := i.client.secret.Load()
	if secret != nil {
		c.ClientSecret = string(*secret)
	}
	c.Endpoint.AuthStyle = style(remote.AuthMethods, secret != nil)
	return c
}

// Began reports whether the query of a callback is the answer to the sign-in with a ticket.
func (i *Issuer) Began(ticket string, answer url.Values) bool {
	return ticket != "" && hmac.Equal([]byte(answer.Get("state")), []byte(i.derive(ticket, "state")))
}

// Finish returns who has signed in. ticket is that of Begin, "" if the browser has none, and
// answer is the query of the callback.
func (i *Issuer) Finish(ctx context.Context, base, ticket string, answer url.Values) (*Person, error) {
	if !i.Began(ticket, answer) {
		return nil, ErrExpired
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, issuer.Client), finishWithin)
	defer cancel()
	endpoints, err := i.published(ctx)
	if err != nil {
		return nil, err
	}
	if iss := answer.Get("iss"); iss != i.Issuer && (iss != "" || endpoints.SendsIssuer) {
		return nil, fmt.Errorf("%w: it is that of another issuer", ErrAnswer)
	}
	if answer.Get("error") != "" {
		return nil, fmt.Errorf("%w: the issuer answered with the error %.100q", ErrRefused, answer.Get("error"))
	}
	token, err := i.config(endpoints, base).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(i.derive(ticket, "verifier")))
	if err != nil {
		return nil, exchangeError(err)
	}
	claims, err := i.verify(ctx, endpoints, token, i.derive(ticket, "nonce"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	subject, _ := claims.Text("sub")
	return i.person(i.Issuer, subject, claims, i.NameClaim, i.DisplayClaim, i.GroupClaim)
}

// exchangeError returns the error of exchanging a code, without the text of the answer, which
// may contain secrets.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return fmt.Errorf("%w: exchanging the code: %w", ErrAway, err)
	case refused.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w: the code has been used, or has expired", ErrExpired)
	case refused.Response.StatusCode >= 500:
		return fmt.Errorf("%w: exchanging the code: status %d", ErrAway, refused.Response.StatusCode)
	}
	return fmt.Errorf("%w: exchanging the code: status %d, error %.100q", ErrAnswer, refused.Response.StatusCode, refused.ErrorCode)
}

var (
	errNoToken  = errors.New("there is no ID token")
	errNonce    = errors.New("the ID token belongs to another sign-in")
	errClientOf = errors.New("the ID token was issued to another client")
	errUserInfo = errors.New("the userinfo endpoint answered for another subject")
)

// verify verifies the ID token of an answer, and returns its claims, with those of the userinfo
// endpoint if the token lacks some.
func (i *Issuer) verify(ctx context.Context, remote *issuer.Documents, token *oauth2.Token, nonce string) (aigateway.Claims, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errNoToken
	}
	verified, err := oidc.NewVerifier(i.Issuer, &i.client.remote, &oidc.Config{
		ClientID: i.ClientID, SupportedSigningAlgs: algorithms,
		Now: func() time.Time { return time.Now().Add(-leeway) },
	}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(verified.Nonce), []byte(nonce)) {
		return nil, errNonce
	}
	var claims aigateway.Claims
	if err := verified.Claims(&claims); err != nil {
		return nil, err
	}
	if azp := claims.At("azp"); azp != nil && azp != i.ClientID {
		return nil, errClientOf
	}
	return claims, i.complete(ctx, remote, token, claims)
}

// complete adds the claims of the userinfo endpoint that the configuration uses, and that the ID
// token lacks.
func (i *Issuer) complete(ctx context.Context, remote *issuer.Documents, token *oauth2.Token, claims aigateway.Claims) error {
	if remote.UserInfoURL == "" || i.has(claims) {
		return nil
	}
	if !aigateway.IsProtectedAddress(remote.UserInfoURL) {
		return errAddresses
	}
	further, err := i.userInfo(ctx, remote.UserInfoURL, token)
	if err != nil {
		i.client.logger.Warn("userinfo endpoint of the issuer cannot be read; the claims of the ID token count alone", zap.Error(err))
		return nil
	}
	if further["sub"] != claims["sub"] {
		return errUserInfo
	}
	keepAddress(claims, further)
	for name, value := range further {
		if _, ok := claims[name]; !ok {
			claims[name] = value
		}
	}
	return nil
}

// keepAddress keeps the address of one source from counting as verified by the other: each
// email_verified is about the email beside it.
func keepAddress(claims, further aigateway.Claims) {
	address, ok := claims["email"].(string)
	switch {
	case !ok:
		delete(claims, "email")
		delete(claims, "email_verified")
	case further["email"] != address:
		delete(further, "email_verified")
	}
}

// has reports whether claims contain all that the configuration uses.
func (i *Issuer) has(claims aigateway.Claims) bool {
	used := append(slices.Collect(maps.Keys(i.Require)), i.NameClaim, i.DisplayClaim, i.GroupClaim)
	if slices.Contains(used, "email") {
		used = append(used, "email_verified")
	}
	return !slices.ContainsFunc(used, func(claim string) bool { return claims.At(claim) == nil })
}
