package call

import (
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Access is the group of clients that may use an endpoint.
type Access int

const (
	Anyone     Access = iota // without a login
	LoggedIn                 // users with a session
	TeamAdmins               // users with a session who administrate the gateway or a team
	Admins                   // users with a session and a role above RoleUser
	Roots                    // users with a session and the role RoleRoot
	LocalAdmin               // the admin API and the commands of this machine, without a login
)

// Admit checks the credential of a call, and the role of its user. It refuses cross-site
// requests if the browser may have added the credential, or may store one from the
// answer. A call that waits for a hash calls Admit again before it changes anything.
func (c *Call) Admit() error {
	switch c.Access {
	case Anyone, LocalAdmin:
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
	if c.Access == TeamAdmins {
		return c.checkTeamAdmin(c.Context())
	}
	if c.Access == Roots && c.User.Role < aigateway.RoleRoot {
		return ErrRole
	}
	return nil
}
