package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// identities serves the links of users with what they are at issuers. Administrators manage those of
// users whose passwords they may set, since an identity is worth as much.
type identities struct {
	*SignIn
	users users
}

// maxIdentities is the largest number of identities of a user.
const maxIdentities = 20

// identityView is an identity in answers.
type identityView struct {
	Issuer  string     `json:"issuer"`
	Subject string     `json:"subject"`
	Groups  []string   `json:"groups"`
	Created time.Time  `json:"created"`
	Used    *time.Time `json:"used"` // null: never
}

func viewIdentity(i *aigateway.Identity) identityView {
	return identityView{i.Issuer, i.Subject, append([]string{}, i.Groups...), answer.Time(i.Created), answer.OptionalTime(i.Used)}
}

// managed returns the user that the path names, and the store of identities.
func (i identities) managed(c *call.Call) (aigateway.IdentityStore, *aigateway.User, error) {
	user, err := i.users.managed(c)
	if err != nil {
		return nil, nil, err
	}
	store, ok := i.users.people.Store.(aigateway.IdentityStore)
	if !ok {
		return nil, nil, answer.Refuse(http.StatusNotFound, "%s", errNoIdentities)
	}
	return store, user, nil
}

// list answers GET /api/v1/users/{name}/identities.
func (i identities) list(c *call.Call) (any, error) {
	store, user, err := i.managed(c)
	if err != nil {
		return nil, err
	}
	return listOf(c, store, user)
}

func listOf(c *call.Call, store aigateway.IdentityStore, user *aigateway.User) (any, error) {
	all, err := store.IdentitiesOf(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return api.List(answer.Views(all, viewIdentity)), nil
}

// newIdentity is the body of a request for a link.
type newIdentity struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// link answers POST /api/v1/users/{name}/identities.
func (i identities) link(c *call.Call, wanted newIdentity) (any, error) {
	store, user, err := i.managed(c)
	if err != nil {
		return nil, err
	}
	if err := call.Require("issuer", wanted.Issuer, "subject", wanted.Subject); err != nil {
		return nil, err
	}
	if len(wanted.Issuer) > people.MaxPassword || len(wanted.Subject) > people.MaxPassword {
		return nil, answer.Invalid("issuer and subject must be at most %d bytes", people.MaxPassword)
	}
	if !c.IsMachine() && !i.has(wanted.Issuer) {
		return nil, answer.Invalid("issuer must be the address of a configured issuer, or proxy")
	}
	err = store.LinkIdentity(c.Context(), aigateway.Identity{Issuer: wanted.Issuer, Subject: wanted.Subject, UserID: user.ID}, maxIdentities)
	switch {
	case errors.Is(err, aigateway.ErrTaken):
		return nil, answer.Refuse(http.StatusConflict, "a user is linked with this identity already")
	case errors.Is(err, aigateway.ErrTooMany):
		return nil, answer.Refuse(http.StatusConflict, "a user has at most %d identities", maxIdentities)
	case err != nil:
		return nil, err
	}
	return listOf(c, store, user)
}

// has reports whether people sign in with an issuer.
func (i identities) has(issuer string) bool {
	for _, configured := range i.Issuers {
		if configured.Issuer == issuer {
			return true
		}
	}
	return i.Proxy != nil && issuer == signin.ProxyIssuer
}

// remove answers DELETE /api/v1/users/{name}/identities. It deletes all identities of a user, and
// ends the sessions.
func (i identities) remove(c *call.Call) (any, error) {
	store, user, err := i.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, store.DeleteIdentities(c.Context(), user.ID)
}
