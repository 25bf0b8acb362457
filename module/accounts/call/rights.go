package call

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
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
	errOnlyAdmins     = answer.Refuse(http.StatusForbidden, "only administrators may do this")
	errOnlyTeamAdmins = answer.Refuse(http.StatusForbidden, "only administrators of the team may do this")
	// ErrRole is the problem of a request that needs a higher role.
	ErrRole = answer.Refuse(http.StatusForbidden, "this requires a higher role")
)

// Rights are what the user of a call may do.
type Rights struct {
	store aigateway.Store
	User  *aigateway.User        // nil for the administrator of the machine
	teams []aigateway.Membership // of the user; nil until they are needed
}

// IsAdmin reports whether the user administrates the gateway or the machine.
func (r *Rights) IsAdmin() bool { return r.User == nil || r.User.Role >= aigateway.RoleAdmin }

// FoldName returns a username in lower case. Usernames ignore letter case.
func FoldName(name string) string { return strings.ToLower(name) }

// MayAskFor reports whether the user may ask for what belongs to a user; "" names none.
func (r *Rights) MayAskFor(name string) bool {
	return name == "" || r.IsAdmin() || FoldName(name) == r.User.Name
}

// Memberships returns the teams of the user. It reads them once from the store.
func (r *Rights) Memberships(ctx context.Context) ([]aigateway.Membership, error) {
	if r.teams == nil {
		teams, err := r.store.Teams().Of(ctx, r.User.ID)
		if err != nil {
			return nil, err
		}
		r.teams = append([]aigateway.Membership{}, teams...)
	}
	return r.teams, nil
}

// Membership returns the team with a name as the user may use it, and ErrNotFound for the team
// of others. Administrators administrate all teams.
func (r *Rights) Membership(ctx context.Context, team string) (*aigateway.Membership, error) {
	if r.IsAdmin() {
		found, err := r.store.Teams().Team(ctx, team)
		if err != nil {
			return nil, err
		}
		return &aigateway.Membership{Team: *found, Admin: true}, nil
	}
	teams, err := r.Memberships(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(teams, func(m aigateway.Membership) bool { return m.Name == team })
	if i < 0 {
		return nil, aigateway.ErrNotFound
	}
	return &teams[i], nil
}

// Administered returns the team with a name, and an error unless the user administrates it.
func (r *Rights) Administered(ctx context.Context, team string) (*aigateway.Team, error) {
	m, err := r.Membership(ctx, team)
	if err != nil {
		return nil, err
	}
	if !m.Admin {
		return nil, errOnlyTeamAdmins
	}
	return &m.Team, nil
}

// Manages reports whether the user manages the keys of an owner with a limit.
func (r *Rights) Manages(ctx context.Context, owner *aigateway.User, limit string) bool {
	if r.IsAdmin() {
		return ManagesKeysOf(r.User, owner)
	}
	_, err := r.Administered(ctx, limit)
	return err == nil && (owner.Role < aigateway.RoleAdmin || owner.ID == r.User.ID)
}

// CheckMember returns aigateway.ErrNoMember unless the user is a member of a team.
func CheckMember(ctx context.Context, store aigateway.Store, user *aigateway.User, team string) error {
	memberships, err := store.Teams().Of(ctx, user.ID)
	if err == nil && !slices.ContainsFunc(memberships, func(m aigateway.Membership) bool { return m.Name == team }) {
		err = aigateway.ErrNoMember
	}
	return err
}

// CheckKey returns ErrNotFound unless the user administrates the team of a key.
func (r *Rights) CheckKey(ctx context.Context, key *aigateway.StoredKey) error {
	_, err := r.Administered(ctx, key.Bounds.Limit)
	if errors.Is(err, errOnlyTeamAdmins) {
		err = aigateway.ErrNotFound
	}
	return err
}

// OfTeam returns the team that the query names, empty for none. Its usage begins at the time
// start, so that it excludes the usage of an earlier team with the same name; zero for
// administrators.
func (c *Call) OfTeam() (name string, start time.Time, err error) {
	if name = c.URL.Query().Get("team"); name == "" {
		return "", start, nil
	}
	team, err := c.Administered(c.Context(), name)
	if err == nil && !c.IsAdmin() {
		start = team.Created
	}
	return name, start, err
}

// Manages reports whether a user may manage users with a role, and assign it.
func Manages(actor *aigateway.User, role aigateway.Role) bool {
	return actor == nil || actor.Role == aigateway.RoleRoot || actor.Role >= aigateway.RoleAdmin && actor.Role > role
}

// ManagesKeysOf reports whether a user may manage the keys of an owner: the own ones, and those of
// users with a role that Manages allows.
func ManagesKeysOf(actor, owner *aigateway.User) bool {
	return Manages(actor, owner.Role) || actor.ID == owner.ID
}
