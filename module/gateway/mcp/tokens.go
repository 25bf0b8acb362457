package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/sync/singleflight"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
)

// Exchange gets a token for the server from the issuer of the token of each client (RFC 8693).
type Exchange struct {
	// Address is the https address of the token endpoint of the issuer; http only on this machine. Required.
	Address string `json:"address"`

	// Client is the name of the gateway at the issuer. Required.
	Client string `json:"client"`

	// Secret is a reference to the secret of the gateway at the issuer. Required.
	Secret string `json:"secret"`

	// Audience is the name of the server at the issuer. Default: none; the issuer gets the address of the
	// server as the resource.
	Audience string `json:"audience,omitempty"`

	// Scope are the permissions of the tokens, with spaces between them. Default: those of the issuer.
	Scope string `json:"scope,omitempty"`
}

func (e *Exchange) check() error {
	switch {
	case !aigateway.IsProtectedAddress(e.Address):
		return errors.New("the token endpoint must be an https address; an http address is accepted only on this machine")
	case e.Client == "":
		return errors.New("client must be set")
	}
	return aigateway.CheckSecretReference(e.Secret)
}

// RefusedError is the error of an issuer that gives no token for a client.
type RefusedError struct {
	Status int
	Code   string // of the issuer, such as invalid_grant; "" for none
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the issuer gives no token for the client: status %d, error '%s'", e.Status, e.Code)
}

// The bounds of tokens.
const (
	longestExchange = 10 * time.Second
	mostTokens      = 4096        // kept at once
	largestToken    = 64 << 10    // bytes of the answer of an issuer
	spare           = time.Minute // before its end, a token is not used any more
)

// exchanger gets tokens for a server, and keeps each as long as it is valid.
type exchanger struct {
	*Exchange
	resource string
	client   *http.Client
	secret   atomic.Pointer[aigateway.Secret]

	flight singleflight.Group // of questions to the issuer, by digests of tokens

	mu    sync.Mutex // guards known
	known map[[sha256.Size]byte]issued
}

// issued is a token for the server.
type issued struct {
	token   string
	expires time.Time
}

// newExchanger prepares the exchange of tokens for a server.
func newExchanger(ctx caddy.Context, e *Exchange, server string) (*exchanger, error) {
	x := &exchanger{Exchange: e, resource: server, client: outbound.Client(longestExchange, nil), known: make(map[[sha256.Size]byte]issued)}
	return x, secrets.Follow(ctx, e.Secret, ctx.Logger(), func(secret aigateway.Secret) error {
		x.secret.Store(&secret)
		return nil
	})
}

// token returns the token for the server of a client.
func (x *exchanger) token(ctx context.Context, subject string) (string, error) {
	if subject == "" {
		return "", ErrNoCaller
	}
	key, now := sha256.Sum256([]byte(subject)), time.Now()
	if token := x.get(key, now); token != "" {
		return token, nil
	}
	// A client that leaves does not end the question of others: a time bounds it.
	asked := x.flight.DoChan(string(key[:]), func() (any, error) {
		got, err := x.ask(context.WithoutCancel(ctx), subject, now)
		if err == nil {
			x.put(key, got, now)
		}
		return got.token, err
	})
	select {
	case answer := <-asked:
		return answer.Val.(string), answer.Err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (x *exchanger) get(key [sha256.Size]byte, now time.Time) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if known := x.known[key]; known.expires.After(now) {
		return known.token
	}
	return ""
}

// forget drops the token for the server of a client.
func (x *exchanger) forget(subject string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.known, sha256.Sum256([]byte(subject)))
}

func (x *exchanger) put(key [sha256.Size]byte, got issued, now time.Time) {
	if !got.expires.After(now) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.known) >= mostTokens {
		maps.DeleteFunc(x.known, func(_ [sha256.Size]byte, old issued) bool { return !old.expires.After(now) })
	}
	if len(x.known) >= mostTokens {
		clear(x.known)
	}
	x.known[key] = got
}

// ask asks the issuer.
func (x *exchanger) ask(ctx context.Context, subject string, now time.Time) (got issued, err error) {
	const accessToken = "urn:ietf:params:oauth:token-type:access_token"
	form := url.Values{
		"grant_type":    {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"subject_token": {subject}, "subject_token_type": {accessToken}, "requested_token_type": {accessToken},
	}
	if x.Audience != "" {
		form.Set("audience", x.Audience)
	} else {
		form.Set("resource", x.resource)
	}
	if x.Scope != "" {
		form.Set("scope", x.Scope)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.Address, strings.NewReader(form.Encode()))
	if err != nil {
		return got, fmt.Errorf("building request: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(x.Client), url.QueryEscape(string(*x.secret.Load())))
	res, err := x.client.Do(req)
	if err != nil {
		return got, fmt.Errorf("exchanging the token of the client: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, largestToken))
	if err != nil {
		return got, fmt.Errorf("exchanging the token of the client: %w", err)
	}
	return readToken(res.StatusCode, text, now)
}

// readToken reads the answer of an issuer. A token without a time of its end is not kept.
func readToken(status int, text []byte, now time.Time) (got issued, err error) {
	var answer struct {
		Token   string  `json:"access_token"`
		Type    string  `json:"token_type"`
		Seconds float64 `json:"expires_in"`
		Error   string  `json:"error"`
	}
	err = json.Unmarshal(text, &answer)
	switch {
	case status/100 == 4:
		return got, &RefusedError{status, ClipName(answer.Error)}
	case status != http.StatusOK || err != nil:
		return got, fmt.Errorf("exchanging the token of the client: the issuer has answered with status %d and no token", status)
	case answer.Token == "" || !strings.EqualFold(answer.Type, "Bearer") || !httpguts.ValidHeaderFieldValue(answer.Token):
		return got, errors.New("exchanging the token of the client: the answer has no token of the type Bearer")
	}
	const longest = 24 * time.Hour
	seconds := max(0, min(answer.Seconds, longest.Seconds()))
	return issued{answer.Token, now.Add(time.Duration(seconds*float64(time.Second)) - spare)}, nil
}
