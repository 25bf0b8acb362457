package signin

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/coreos/go-oidc/v3/oidc"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/issuer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
)

// Issuer is an issuer of OpenID Connect, where the gateway is a client with the code flow.
type Issuer struct {
	// Issuer is the address of the issuer, exactly as in its discovery document (OpenID
	// Connect Discovery 1.0). An http address is accepted only on this machine. Required.
	Issuer string `json:"issuer"`

	// Name is shown on the login page, and is a part of the callback address. Letters,
	// digits and ._- with a letter or digit first, at most 64. Default: the host of the
	// issuer.
	Name string `json:"name,omitempty"`

	// ClientID is the id that the issuer gave to this gateway. Required.
	ClientID string `json:"client_id"`

	// ClientSecret is the reference of the secret of the client, {env.NAME} or
	// {file.PATH}. A file is followed. Default: none, for a public client.
	ClientSecret string `json:"client_secret,omitempty"`

	// Scopes are the scopes that are asked for. Default: openid, profile and email.
	Scopes []string `json:"scopes,omitempty"`

	// Callback is the address to which the issuer sends browsers back, as it is
	// registered there: https, with a path that ends in /api/v1/signin/<name>/callback. Default:
	// that path at the scheme and host of the request that begins the sign-in, below the path
	// that the site has cut off. The issuer compares it with what is registered.
	Callback string `json:"callback,omitempty"`

	Claims
	Rules

	client client
}

// client is the gateway as a client of the issuer.
type client struct {
	secret atomic.Pointer[aigateway.Secret] // nil without one
	remote issuer.Remote
	logger *zap.Logger
}

// Claims name the claims of a person, in the ID token or at the userinfo endpoint. Dots lead
// into objects.
type Claims struct {
	// NameClaim is the claim with the name of an account that is created. An "email" counts
	// only if the issuer has verified it. Users must not be able to choose its value, since
	// usage counts by name. Default: preferred_username.
	NameClaim string `json:"name_claim,omitempty"`

	// DisplayClaim is the claim with the display name of an account that is created.
	// Default: name.
	DisplayClaim string `json:"display_claim,omitempty"`

	// GroupClaim is the claim with the groups: a list, a text, or a text of words.
	// Default: groups.
	GroupClaim string `json:"group_claim,omitempty"`
}

var (
	errIssuer   = errors.New("issuer must be an https address without query; an http address is accepted only on this machine")
	errClient   = errors.New("client_id is required")
	errOpen     = errors.New("anyone can have an account at this issuer: create user needs a line such as 'require hd example.com'")
	errScopes   = errors.New("scopes must contain openid")
	validName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	openIssuers = []string{"https://accounts.google.com", "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"}
)

// Provision checks the configuration, and follows the file of the secret. It calls nobody.
func (i *Issuer) Provision(ctx caddy.Context) error {
	i.client.logger = ctx.Logger().With(zap.String("issuer", i.Issuer))
	if err := i.check(); err != nil {
		return fmt.Errorf("oidc %s: %w", i.Issuer, err)
	}
	if i.ClientID == "" {
		return fmt.Errorf("oidc %s: %w", i.Issuer, errClient)
	}
	i.setDefaults()
	i.client.remote = issuer.Remote{Issuer: i.Issuer, Logger: ctx.Logger()}
	if i.ClientSecret == "" {
		return nil
	}
	err := secrets.Follow(ctx, i.ClientSecret, i.client.logger, func(s aigateway.Secret) error {
		i.client.secret.Store(&s)
		return nil
	})
	if err != nil {
		return fmt.Errorf("oidc %s: client_secret: %w", i.Issuer, err)
	}
	return nil
}

// setDefaults sets the fields that the configuration leaves out.
func (i *Issuer) setDefaults() {
	i.Name = i.name()
	i.NameClaim = cmp.Or(i.NameClaim, "preferred_username")
	i.DisplayClaim = cmp.Or(i.DisplayClaim, "name")
	i.GroupClaim = cmp.Or(i.GroupClaim, "groups")
	if len(i.Scopes) == 0 {
		i.Scopes = []string{oidc.ScopeOpenID, "profile", "email"}
	}
}

func (i *Issuer) name() string {
	if u, err := url.Parse(i.Issuer); err == nil && i.Name == "" {
		return u.Hostname()
	}
	return i.Name
}

func (i *Issuer) check() error {
	switch {
	case !aigateway.IsProtectedAddress(i.Issuer) || strings.Contains(i.Issuer, "?"):
		return errIssuer
	case !validName.MatchString(i.name()):
		return nameError(i.name())
	case i.Scopes != nil && !slices.Contains(i.Scopes, oidc.ScopeOpenID):
		return errScopes
	case i.Create == createUser && len(i.Require) == 0 && slices.Contains(openIssuers, i.Issuer):
		return errOpen
	}
	if err := i.checkCallback(); err != nil {
		return err
	}
	return i.Rules.check()
}

func nameError(name string) error {
	return fmt.Errorf("name must be letters, digits or ._- with a letter or digit first, not '%s'", name)
}

func (i *Issuer) checkCallback() error {
	if i.Callback == "" {
		return nil
	}
	u, err := url.Parse(i.Callback)
	if err != nil || !aigateway.IsProtectedAddress(i.Callback) || !strings.HasSuffix(u.Path, i.callbackPath()) || u.RawQuery != "" {
		return fmt.Errorf("callback must be an https address whose path ends in %s", i.callbackPath())
	}
	return nil
}

// Path is the beginning of the paths of sign-ins. The name of the way follows, and for the
// callback of an issuer, CallbackSuffix.
const (
	Path           = "/api/v1/signin/"
	CallbackSuffix = "/callback"
)

func (i *Issuer) callbackPath() string { return Path + i.name() + CallbackSuffix }
