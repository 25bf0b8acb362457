package call

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Access is the group of clients that may use an endpoint.
type Access int

const (
	Anyone     Access = iota // without a login
	OwnSession               // users with a session, about what is of it: not the administrator of the machine
	LoggedIn                 // users with a session
	Admins                   // users with a session and a role above RoleUser
	Roots                    // users with a session and the role RoleRoot
)

// Admit checks the credential of a call, and the role of its user. The administrator of the machine
// needs none, and may do all. It refuses cross-site requests if the browser may have added the
// credential, or may store one from the answer. A call that waits for a hash calls Admit again before it changes anything.
func (c *Call) Admit() error {
	if c.Access == Anyone || c.machine {
		if new(http.CrossOriginProtection).Check(c.Request) != nil {
			return ErrCrossOrigin
		}
		return nil
	}
	c.teams = nil // they may have changed since the last check
	if err := c.Authenticate(); err != nil {
		return err
	}
	if c.Access == Admins && !c.IsAdmin() {
		return errOnlyAdmins
	}
	if c.Access == Roots && c.User.Role < aigateway.RoleRoot {
		return ErrRole
	}
	return nil
}
