package accounts

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The rights in teams. Administrators of the gateway, and of the machine, have them in all
// teams.
//
//   - Members see their team, and make keys of it for themselves.
//   - Administrators of a team see its members, keys and usage; add and remove members; and
//     make, change and delete keys of it for members with the role user and for themselves.
//   - For all others, a team is as one that does not exist.

var (
	errOnlyAdmins     = refuse(http.StatusForbidden, "only administrators may do this")
	errOnlyTeamAdmins = refuse(http.StatusForbidden, "only administrators of the team may do this")
)

// isAdmin reports whether the call is one of an administrator of the gateway or of the machine.
func (c *call) isAdmin() bool { return c.user == nil || c.user.Role >= aigateway.RoleAdmin }

// memberships returns the teams of the user. It reads them once from the store.
func (c *call) memberships() ([]aigateway.Membership, error) {
	if c.teams == nil {
		teams, err := c.store.Teams().Of(c.Context(), c.user.ID)
		if err != nil {
			return nil, err
		}
		c.teams = append([]aigateway.Membership{}, teams...)
	}
	return c.teams, nil
}

// checkTeamAdmin returns an error unless the user administrates the gateway or a team.
func (c *call) checkTeamAdmin() error {
	if c.isAdmin() {
		return nil
	}
	c.teams = nil // they may have changed since the last check
	teams, err := c.memberships()
	if err == nil && !slices.ContainsFunc(teams, func(m aigateway.Membership) bool { return m.Admin }) {
		err = errOnlyAdmins
	}
	return err
}

// membership returns the team with a name as the user may use it, and ErrNotFound for the team
// of others. Administrators administrate all teams.
func (c *call) membership(team string) (*aigateway.Membership, error) {
	if c.isAdmin() {
		found, err := c.store.Teams().Team(c.Context(), team)
		if err != nil {
			return nil, err
		}
		return &aigateway.Membership{Team: *found, Admin: true}, nil
	}
	teams, err := c.memberships()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(teams, func(m aigateway.Membership) bool { return m.Name == team })
	if i < 0 {
		return nil, aigateway.ErrNotFound
	}
	return &teams[i], nil
}

// administered returns the team with a name, and an error unless the user administrates it.
func (c *call) administered(team string) (*aigateway.Team, error) {
	m, err := c.membership(team)
	if err != nil {
		return nil, err
	}
	if !m.Admin {
		return nil, errOnlyTeamAdmins
	}
	return &m.Team, nil
}

// manages reports whether the user manages the keys of an owner with a limit.
func (c *call) manages(owner *aigateway.User, limit string) bool {
	if c.isAdmin() {
		return managesKeysOf(c.user, owner)
	}
	_, err := c.administered(limit)
	return err == nil && (owner.Role < aigateway.RoleAdmin || owner.ID == c.user.ID)
}

// checkKey returns ErrNotFound unless the user administrates the team of a key.
func (c *call) checkKey(key *aigateway.StoredKey) error {
	_, err := c.administered(key.Limit)
	if errors.Is(err, errOnlyTeamAdmins) {
		err = aigateway.ErrNotFound
	}
	return err
}

// ofTeam returns the team that the query names, empty for none. Its usage begins at the time
// since, so that it excludes the usage of an earlier team with the same name; zero for
// administrators.
func (c *call) ofTeam() (name string, since time.Time, err error) {
	if name = c.URL.Query().Get("team"); name == "" {
		return "", since, nil
	}
	team, err := c.administered(name)
	if err == nil && !c.isAdmin() {
		since = team.Created
	}
	return name, since, err
}
