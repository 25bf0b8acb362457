package accounts

import (
	"context"
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

// userRights are what the user of a call may do.
type userRights struct {
	store aigateway.Store
	user  *aigateway.User        // nil for the administrator of the machine
	teams []aigateway.Membership // of the user; nil until they are needed
}

// isAdmin reports whether the user administrates the gateway or the machine.
func (r *userRights) isAdmin() bool { return r.user == nil || r.user.Role >= aigateway.RoleAdmin }

// memberships returns the teams of the user. It reads them once from the store.
func (r *userRights) memberships(ctx context.Context) ([]aigateway.Membership, error) {
	if r.teams == nil {
		teams, err := r.store.Teams().Of(ctx, r.user.ID)
		if err != nil {
			return nil, err
		}
		r.teams = append([]aigateway.Membership{}, teams...)
	}
	return r.teams, nil
}

// checkTeamAdmin returns an error unless the user administrates the gateway or a team.
func (r *userRights) checkTeamAdmin(ctx context.Context) error {
	if r.isAdmin() {
		return nil
	}
	r.teams = nil // they may have changed since the last check
	teams, err := r.memberships(ctx)
	if err == nil && !slices.ContainsFunc(teams, func(m aigateway.Membership) bool { return m.Admin }) {
		err = errOnlyAdmins
	}
	return err
}

// membership returns the team with a name as the user may use it, and ErrNotFound for the team
// of others. Administrators administrate all teams.
func (r *userRights) membership(ctx context.Context, team string) (*aigateway.Membership, error) {
	if r.isAdmin() {
		found, err := r.store.Teams().Team(ctx, team)
		if err != nil {
			return nil, err
		}
		return &aigateway.Membership{Team: *found, Admin: true}, nil
	}
	teams, err := r.memberships(ctx)
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
func (r *userRights) administered(ctx context.Context, team string) (*aigateway.Team, error) {
	m, err := r.membership(ctx, team)
	if err != nil {
		return nil, err
	}
	if !m.Admin {
		return nil, errOnlyTeamAdmins
	}
	return &m.Team, nil
}

// manages reports whether the user manages the keys of an owner with a limit.
func (r *userRights) manages(ctx context.Context, owner *aigateway.User, limit string) bool {
	if r.isAdmin() {
		return managesKeysOf(r.user, owner)
	}
	_, err := r.administered(ctx, limit)
	return err == nil && (owner.Role < aigateway.RoleAdmin || owner.ID == r.user.ID)
}

// checkMember returns aigateway.ErrNoMember unless the user is a member of a team.
func checkMember(ctx context.Context, store aigateway.Store, user *aigateway.User, team string) error {
	of, err := store.Teams().Of(ctx, user.ID)
	if err == nil && !slices.ContainsFunc(of, func(m aigateway.Membership) bool { return m.Name == team }) {
		err = aigateway.ErrNoMember
	}
	return err
}

// checkKey returns ErrNotFound unless the user administrates the team of a key.
func (r *userRights) checkKey(ctx context.Context, key *aigateway.StoredKey) error {
	_, err := r.administered(ctx, key.Limit)
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
	team, err := c.administered(c.Context(), name)
	if err == nil && !c.isAdmin() {
		since = team.Created
	}
	return name, since, err
}
