package aigateway

import (
	"context"
	"errors"
	"time"
)

// Team is a group of keys in a Store: those whose limit has the name of the team. Each of
// their owners is a member of the team.
type Team struct {
	// Name is the name of the team, and of the limit of its keys. See IsName.
	Name string

	// Models are an upper bound of the models that keys of the team may use; empty: all.
	Models []Pattern

	// Rules are the rules of the limit that all keys of the team share. They apply only if
	// the configuration defines no limit with the name of the team. Zero: none.
	Rules LimitRules

	BudgetSince time.Time // that of the limit: see Limit
	Created     time.Time // set by the store
}

// Limit returns the limit with the rules of the team, nil if it has none.
func (t *Team) Limit() *Limit {
	if t.Rules == (LimitRules{}) {
		return nil
	}
	return &Limit{Name: t.Name, Per: PerGroup, LimitRules: t.Rules, BudgetSince: t.BudgetSince}
}

// Member is a user in a team.
type Member struct {
	UserID int64
	User   string // the name of the user
	Role   Role   // of the user, outside of the team
	Admin  bool   // the user administrates the team
}

// Membership is a team of a user.
type Membership struct {
	Team
	Admin bool // the user administrates the team
}

// The errors of Teams. Its methods return errors that wrap them.
var (
	ErrNoMember = errors.New("the user is no member of the team")
	ErrHasKeys  = errors.New("there are keys of the team")
)

// Teams are the teams of a Store. Methods return ErrNotFound for an unknown team or user.
//
// A key of a team always belongs to a member: Keys.CreateKey and Keys.ChangeKey return
// ErrNoMember for the key of another user with the limit of a team.
type Teams interface {
	// Create adds a team, and sets Created. The owners of keys that have the limit already
	// become members. Create returns ErrTaken if another team has the name.
	Create(context.Context, *Team) error

	Team(ctx context.Context, name string) (*Team, error)

	// List returns a page of the teams, ordered by name, and the number of all teams that
	// the page searches for.
	List(context.Context, Page) (teams []Team, total int, err error)

	// Change calls change within a transaction, and stores the team as change leaves it,
	// except for Name and Created. An error of change is returned unchanged, and nothing
	// is stored.
	Change(ctx context.Context, name string, change func(*Team) error) (*Team, error)

	// Delete deletes a team. If it has keys, Delete deletes them, too, if withKeys is
	// true, and else returns ErrHasKeys.
	Delete(ctx context.Context, name string, withKeys bool) error

	// Of returns the teams of a user, ordered by name.
	Of(ctx context.Context, user int64) ([]Membership, error)

	// Members returns a page of the members of a team, ordered by the names of the users,
	// and the number of all members that the page searches for.
	Members(ctx context.Context, team string, page Page) (members []Member, total int, err error)

	// SetMember adds a member to a team, or changes whether a member administrates it. It
	// returns ErrTooMany if the user is in limit other teams already.
	SetMember(ctx context.Context, team string, user int64, admin bool, limit int) error

	// RemoveMember removes a member from a team. If the member has keys of the team,
	// RemoveMember deletes them, too, if withKeys is true, and else returns ErrHasKeys. It
	// returns ErrNoMember for another user.
	RemoveMember(ctx context.Context, team string, user int64, withKeys bool) error

	// Keys returns a page of the keys of a team, the latest first, and the number of all
	// keys that the page searches for.
	Keys(ctx context.Context, team string, page Page) (keys []StoredKey, total int, err error)
}
