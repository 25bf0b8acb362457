package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// identities link users with what they are at issuers.
type identities struct {
	SignIn
	logins logins
	users  users
}

// maxIdentities is the largest number of identities of a user.
const maxIdentities = 20

// identityView is an identity in answers. Times are Unix seconds, 0 for never.
type identityView struct {
	Issuer  string   `json:"issuer"`
	Subject string   `json:"subject"`
	Groups  []string `json:"groups"`
	Created int64    `json:"created_at"`
	Used    int64    `json:"used_at"`
}

func viewIdentity(i *aigateway.Identity) identityView {
	groups := i.Groups
	if groups == nil {
		groups = []string{}
	}
	return identityView{i.Issuer, i.Subject, groups, answer.Unix(i.Created, 0), answer.Unix(i.Used, 0)}
}

// identityChange reads or changes the identities of a user.
type identityChange func(i identities, c *call.Call, store aigateway.IdentityStore, user *aigateway.User) (any, error)

// ofUser returns the handler of a path with the ID of a user. Administrators manage the identities
// of users whose passwords they may set, since an identity is worth as much.
func (change identityChange) ofUser(i identities, c *call.Call) (any, error) {
	user, err := i.logins.managed(c)
	if err != nil {
		return nil, err
	}
	return change.on(i, c, user)
}

// ofNamed is ofUser for the administrator of the machine, and a path with the name of a user.
func (change identityChange) ofNamed(i identities, c *call.Call) (any, error) {
	user, err := i.users.byName(c, c.PathValue)
	if err != nil {
		return nil, err
	}
	return change.on(i, c, user)
}

func (change identityChange) on(i identities, c *call.Call, user *aigateway.User) (any, error) {
	store, ok := i.users.store.(aigateway.IdentityStore)
	if !ok {
		return nil, answer.Refuse(http.StatusNotFound, "%s", errNoIdentities)
	}
	return change(i, c, store, user)
}

// The changes of identities.
var (
	listIdentities   identityChange = identities.list
	linkIdentity     identityChange = identities.link
	deleteIdentities identityChange = identities.remove
)

func (i identities) list(c *call.Call, store aigateway.IdentityStore, user *aigateway.User) (any, error) {
	all, err := store.IdentitiesOf(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return answer.Views(all, viewIdentity), nil
}

// link links a user with an identity that the administrator names.
func (i identities) link(c *call.Call, store aigateway.IdentityStore, user *aigateway.User) (any, error) {
	if err := c.Form.Require("issuer", "subject"); err != nil {
		return nil, err
	}
	identity := aigateway.Identity{Issuer: *c.Form.Text("issuer"), Subject: *c.Form.Text("subject"), UserID: user.ID}
	if len(identity.Issuer) > maxPassword || len(identity.Subject) > maxPassword {
		return nil, answer.Invalid("issuer and subject must be at most %d bytes", maxPassword)
	}
	if c.Access != call.LocalAdmin && !i.has(identity.Issuer) {
		return nil, answer.Invalid("issuer must be the address of a configured issuer, or proxy")
	}
	err := store.LinkIdentity(c.Context(), identity, maxIdentities)
	switch {
	case errors.Is(err, aigateway.ErrTaken):
		return nil, answer.Refuse(http.StatusConflict, "a user is linked with this identity already")
	case errors.Is(err, aigateway.ErrTooMany):
		return nil, answer.Refuse(http.StatusConflict, "a user has at most %d identities", maxIdentities)
	case err != nil:
		return nil, err
	}
	return i.list(c, store, user)
}

// has reports whether a way to sign in gives identities of an issuer.
func (i identities) has(issuer string) bool {
	for _, configured := range i.Issuers {
		if configured.Issuer == issuer {
			return true
		}
	}
	return i.Proxy != nil && issuer == signin.ProxyIssuer
}

// remove deletes all identities of a user, and ends the sessions.
func (i identities) remove(c *call.Call, store aigateway.IdentityStore, user *aigateway.User) (any, error) {
	return nil, store.DeleteIdentities(c.Context(), user.ID)
}
