package signin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Rules decide who may sign in, and with which role.
type Rules struct {
	// Require are values by claim. A person may sign in only if each of the claims is or
	// contains one of its values. Who is refused loses all sessions, and what groups gave: see
	// Roles and Teams. For a proxy, the only claim is "groups". Default: none.
	Require map[string][]string `json:"require,omitempty"`

	// Roles are groups by role, "admin" or "root". If there are any, each sign-in sets the
	// role of the user: the highest one of which the person has a group, or else "user". If
	// there are none, administrators assign roles. Default: none.
	Roles map[string][]string `json:"roles,omitempty"`

	// Create is what happens when a person without an account signs in: with "user", an
	// account with the smallest role is created; with "off", the person is refused until an
	// administrator links an account with the identity. Default: off.
	Create string `json:"create,omitempty"`

	// Teams is what the groups of a person mean for teams: with "groups", each sign-in makes
	// the user a member of the teams that have the name of a group, and ends the memberships
	// that an earlier one gave for other groups, with the keys that the user has of these
	// teams. It creates no team, and no administrator of one. With "off", groups mean nothing
	// for teams. Default: off.
	Teams string `json:"teams,omitempty"`
}

// The values of Create.
const (
	createOff  = "off"
	createUser = "user"
)

// The values of Teams.
const (
	teamsOff    = "off"
	teamsGroups = "groups"
)

var (
	errCreate  = errors.New("create must be off or user")
	errTeams   = errors.New("teams must be off or groups")
	errRole    = errors.New("role must be admin or root, with at least one group")
	errRequire = errors.New("require must be a claim with at least one value")
)

func (r *Rules) check() error {
	if r.Create != "" && r.Create != createOff && r.Create != createUser {
		return errCreate
	}
	if r.Teams != "" && r.Teams != teamsOff && r.Teams != teamsGroups {
		return errTeams
	}
	for word, groups := range r.Roles {
		if !slices.ContainsFunc(roles, func(role ruledRole) bool { return role.word == word }) || len(groups) == 0 {
			return errRole
		}
	}
	for claim, values := range r.Require {
		if claim == "" || len(values) == 0 {
			return errRequire
		}
	}
	return nil
}

// ruledRole is a role that a group may give.
type ruledRole struct {
	word string
	role aigateway.Role
}

// roles are the roles that groups may give, the highest one first.
var roles = []ruledRole{{"root", aigateway.RoleRoot}, {"admin", aigateway.RoleAdmin}}

// roleOf returns the role of a person with groups, 0 if the rules set none.
func (r *Rules) roleOf(groups []string) aigateway.Role {
	if len(r.Roles) == 0 {
		return 0
	}
	for _, role := range roles {
		if intersects(r.Roles[role.word], groups) {
			return role.role
		}
	}
	return aigateway.RoleUser
}

func intersects(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// Person is who has signed in.
type Person struct {
	Issuer, Subject string
	Name            string // of the account to create; "" if the claims have none
	Unnamed         error  // why the claims have no name; nil if they have one
	DisplayName     string
	Groups          []string       // at most mostGroups
	Role            aigateway.Role // to set; 0: the role stays as it is
	Creates         bool           // an account is created for a person without one
	Joins           bool           // the memberships in teams follow Groups
}

// The bounds of what is stored of a person.
const (
	mostGroups   = 200
	longestGroup = 128 // bytes
	longestID    = 255 // bytes of a subject, as OpenID Connect allows
	longestName  = 64  // characters of a display name
)

// person applies the rules to the claims of a subject. A person whom they refuse has no groups, and
// the role of one without groups.
func (r *Rules) person(issuer, subject string, claims aigateway.Claims, name, display, group string) (*Person, error) {
	if subject == "" || len(subject) > longestID || strings.ContainsFunc(subject, isHidden) {
		return nil, fmt.Errorf("%w: the subject is not a text of 1 to %d bytes", ErrAnswer, longestID)
	}
	if r.needs(group) && isElsewhere(claims, group) {
		return nil, fmt.Errorf("%w: the claim %s is left out, as for members of too many groups: let the issuer send roles, or fewer groups", ErrAnswer, group)
	}
	p := &Person{Issuer: issuer, Subject: subject, Role: r.roleOf(nil), Joins: r.Teams == teamsGroups}
	for claim, values := range r.Require {
		if !slices.ContainsFunc(values, func(value string) bool { return claims.Has(claim, value) }) {
			return p, fmt.Errorf("%w: the claim %s has none of the required values", ErrRefused, claim)
		}
	}
	groups := claims.Words(group)
	displayed, _ := claims.Text(display)
	p.DisplayName, p.Role, p.Creates = shown(displayed), r.roleOf(groups), r.Create == createUser
	p.Name, p.Unnamed = claims.Text(name)
	for _, g := range groups {
		if len(p.Groups) < mostGroups && len(g) <= longestGroup && !strings.ContainsFunc(g, isHidden) {
			p.Groups = append(p.Groups, g)
		}
	}
	return p, nil
}

// needs reports whether the rules depend on the claim with the groups.
func (r *Rules) needs(group string) bool {
	return len(r.Roles) > 0 || r.Teams == teamsGroups || r.Require[group] != nil
}

// isElsewhere reports whether a claim is left out because another address has it: a distributed claim
// (OpenID Connect Core, 5.6.2). A person must not lose a role, or the keys of a team, for that.
func isElsewhere(claims aigateway.Claims, claim string) bool {
	elsewhere, _ := claims["_claim_names"].(map[string]any)
	return claims.At(claim) == nil && (elsewhere[claim] != nil || claim == "groups" && claims["hasgroups"] == true)
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }

// shown returns the printable part of a name.
func shown(name string) string {
	var text []rune
	for _, r := range name {
		if !isHidden(r) && len(text) < longestName {
			text = append(text, r)
		}
	}
	return string(text)
}
