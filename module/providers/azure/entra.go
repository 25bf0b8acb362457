package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/tokens"
)

// Entra is an application of Microsoft Entra ID, whose secret is the provider's API key. Its
// tokens are fetched when they are needed, and renewed before they end.
type Entra struct {
	// Tenant is the id or the domain of the tenant.
	Tenant string `json:"tenant"`
	// ClientID is the id of the application.
	ClientID string `json:"client_id"`
	// Authority is the address of the service that gives tokens. Default:
	// https://login.microsoftonline.com.
	Authority string `json:"authority,omitempty"`
	// Scope is the scope of the tokens. Default: https://cognitiveservices.azure.com/.default;
	// for azure_claude, https://ai.azure.com/.default.
	Scope string `json:"scope,omitempty"`
}

const publicAuthority = "https://login.microsoftonline.com"

// check returns an error for an application that cannot have tokens.
func (e *Entra) check() error {
	if !tenantName.MatchString(e.Tenant) || !tenantName.MatchString(e.ClientID) {
		return errors.New("entra: needs the id of a tenant and the id of a client")
	}
	if u, err := aigateway.ParseBaseURL(cmp.Or(e.Authority, publicAuthority)); err != nil || u.Scheme != "https" {
		return errors.New("entra: the authority must be an https URL, because the client secret is sent there")
	}
	return nil
}

// read reads an application.
func (e *Entra) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&e.Tenant, &e.ClientID) {
		return d.Err("entra needs the id of a tenant and the id of a client; the client secret is the api_key of the provider")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		word := d.Val()
		value, known := map[string]*string{"authority": &e.Authority, "scope": &e.Scope}[word]
		if !known || !d.AllArgs(value) {
			return d.Errf("unrecognized word in entra: %s; its words are authority and scope, with one value", word)
		}
	}
	return nil
}

// identity is what a token depends on.
type identity struct{ endpoint, client, scope, secret string }

var cache tokens.Cache[identity, aigateway.Secret]

// token returns a token for a client secret.
func (a *Azure) token(ctx context.Context, request aigateway.TokenRequest) (aigateway.Secret, error) {
	id := identity{
		endpoint: strings.TrimRight(cmp.Or(a.Entra.Authority, publicAuthority), "/") + "/" + a.Entra.Tenant + "/oauth2/v2.0/token",
		client:   a.Entra.ClientID, scope: a.scope(), secret: string(request.Key),
	}
	return cache.Token(ctx, id, request.Refused, func(ctx context.Context) (tokens.Token[aigateway.Secret], error) {
		return id.fetch(ctx, request.Client)
	})
}

// maxTokenAnswer is the largest size of an answer with a token, in bytes.
const maxTokenAnswer = 1 << 20

// fetch exchanges the secret for a token.
func (id identity) fetch(ctx context.Context, client *http.Client) (token tokens.Token[aigateway.Secret], err error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id.client}, "client_secret": {id.secret}, "scope": {id.scope},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, id.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return token, fmt.Errorf("fetching token: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	if err != nil {
		return token, fmt.Errorf("fetching token: %w", err)
	}
	defer res.Body.Close()
	var answer struct {
		Token   string      `json:"access_token"`
		Seconds json.Number `json:"expires_in"`
		Error   string      `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, maxTokenAnswer)).Decode(&answer)
	seconds, numberErr := answer.Seconds.Float64()
	switch {
	case refusals[answer.Error]:
		return token, fmt.Errorf("fetching token: %s: %w", answer.Error, aigateway.ErrKeyRefused)
	case res.StatusCode != http.StatusOK:
		return token, fmt.Errorf("fetching token: status %d", res.StatusCode)
	case err != nil || answer.Token == "" || numberErr != nil || seconds <= 0:
		return token, errors.New("fetching token: the answer has no token with an end")
	}
	life := time.Duration(min(seconds, longestLife.Seconds())) * time.Second
	return tokens.Token[aigateway.Secret]{Value: aigateway.Secret(answer.Token), Ends: time.Now().Add(life)}, nil
}

// longestLife is the longest time for which a token is used.
const longestLife = 24 * time.Hour

// refusals are the errors of the service for an application or a secret that it does not
// accept. Other errors may be over soon.
var refusals = map[string]bool{"invalid_client": true, "unauthorized_client": true, "access_denied": true}
