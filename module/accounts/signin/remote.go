package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/issuer"
)

// finishWithin bounds all requests of a sign-in.
const finishWithin = 15 * time.Second

var errAddresses = errors.New("the discovery document has an address that is not https")

// published returns the documents of the issuer, with addresses to which browsers and secrets may go.
func (i *Issuer) published(ctx context.Context) (*issuer.Documents, error) {
	documents, err := i.client.remote.Documents(ctx)
	var unusable issuer.DocumentError
	switch {
	case errors.As(err, &unusable):
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	case !aigateway.IsProtectedAddress(documents.AuthURL) || !aigateway.IsProtectedAddress(documents.TokenURL):
		return nil, fmt.Errorf("%w: %w", ErrAnswer, errAddresses)
	}
	return documents, nil
}

// style returns how the client authenticates itself, if the issuer accepts some methods. Trying both
// ways would use up the code.
func style(methods []string, secret bool) oauth2.AuthStyle {
	if secret && (len(methods) == 0 || slices.Contains(methods, "client_secret_basic")) { // none: the default of the specification
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// userInfo returns the claims of the userinfo endpoint. [oidc.Provider.UserInfo] refuses an answer
// with a boolean in words that it does not know, whether the claim matters or not.
func (i *Issuer) userInfo(ctx context.Context, endpoint string, token *oauth2.Token) (claims aigateway.Claims, err error) {
	body, contentType, err := issuer.Get(ctx, endpoint, http.Header{"Authorization": {token.Type() + " " + token.AccessToken}})
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(contentType); kind == "application/jwt" {
		if body, err = i.client.remote.VerifySignature(ctx, string(body)); err != nil {
			return nil, fmt.Errorf("verifying the signature: %w", err)
		}
	}
	return claims, json.Unmarshal(body, &claims)
}
