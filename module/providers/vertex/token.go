package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/tokens"
)

const scope = "https://www.googleapis.com/auth/cloud-platform"

// cache contains tokens by the content of a file of credentials, "" for those of the machine.
var cache tokens.Cache[aigateway.Secret, aigateway.Secret]

// token returns a token for the credentials that are the API key, or, without an API key, for
// the default credentials of the machine: the file that GOOGLE_APPLICATION_CREDENTIALS names,
// that of gcloud, or those of the metadata server.
func token(ctx context.Context, request aigateway.TokenRequest) (aigateway.Secret, error) {
	return cache.Token(ctx, request.Key, request.Refused, func(ctx context.Context) (tokens.Token[aigateway.Secret], error) {
		return fetch(ctx, request.Client, request.Key)
	})
}

// fetch fetches a token. The errors of the library may quote the answer of a server, and the
// file with a private key, so that only their kind is returned.
func fetch(ctx context.Context, client *http.Client, key aigateway.Secret) (token tokens.Token[aigateway.Secret], err error) {
	detected, err := find(&credentials.DetectOptions{Scopes: []string{scope}, Client: client, DisableAsyncRefresh: true}, key)
	if err != nil {
		return token, err
	}
	got, err := detected.Token(ctx)
	if err != nil {
		return token, fetchError(ctx, err)
	}
	return tokens.Token[aigateway.Secret]{Value: aigateway.Secret(got.Value), Ends: got.Expiry}, nil
}

// fetchError returns the error of a fetch without the answer that it quotes.
func fetchError(ctx context.Context, err error) error {
	var answered *auth.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("fetching token: %w", context.Cause(ctx))
	case !errors.As(err, &answered) || answered.Response == nil:
		return errors.New("fetching token: no answer")
	case answered.Response.StatusCode == http.StatusBadRequest, answered.Response.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("fetching token: status %d: %w", answered.Response.StatusCode, aigateway.ErrKeyRefused)
	default:
		return fmt.Errorf("fetching token: status %d", answered.Response.StatusCode)
	}
}

// kinds are the kinds of credentials that an API key may contain. Those that run a program
// are not among them unless the environment of the process allows programs.
var kinds = []credentials.CredType{
	credentials.ServiceAccount, credentials.AuthorizedUser, credentials.ExternalAccount, credentials.ImpersonatedServiceAccount,
}

// find returns the credentials of an API key or of the machine.
func find(o *credentials.DetectOptions, key aigateway.Secret) (*auth.Credentials, error) {
	if key == "" {
		detected, err := credentials.DetectDefault(o)
		if err != nil {
			return nil, errors.New("finding credentials: the machine has none, and the provider has no api_key")
		}
		return detected, nil
	}
	var file struct {
		Type credentials.CredType `json:"type"`
	}
	if err := json.Unmarshal([]byte(key), &file); err != nil || !slices.Contains(kinds, file.Type) {
		return nil, fmt.Errorf("reading credentials: the API key must be the content of a file of credentials: %w", aigateway.ErrKeyRefused)
	}
	detected, err := credentials.NewCredentialsFromJSON(file.Type, []byte(key), o)
	if err != nil {
		return nil, fmt.Errorf("reading credentials: a file of the type %s is incomplete: %w", file.Type, aigateway.ErrKeyRefused)
	}
	return detected, nil
}
