package aigateway

import (
	"context"
	"time"
)

// Identity is what a user is at an issuer: a service that signs in the users of a company.
type Identity struct {
	Issuer  string // its address, or another text that identifies it
	Subject string // unique at the issuer, and never given to another person
	UserID  int64
	Groups  []string  // at the issuer, as of the last sign-in
	Created time.Time // set by the store
	Used    time.Time // the last sign-in, also a refused one; zero: never

	// MaxTeams is the largest number of teams of the user if SignIn makes the memberships
	// follow Groups; 0: it does not. It is not stored.
	MaxTeams int
}

// IdentityStore is an optional interface of a Store. Accounts with issuers need it.
type IdentityStore interface {
	// SignIn returns the user with the issuer and the subject of an identity, and records
	// the groups of the identity and the time. If no user has the identity, SignIn calls
	// create, and adds the user that it returns, with the identity; it returns ErrTaken if
	// another user has the name. SignIn calls change with the user, and stores the user as
	// change leaves it, as ChangeUser does. All of this is one transaction: errors of
	// create and change are returned unchanged, and nothing is stored.
	//
	// If the memberships follow the groups, the user becomes a member of each team whose
	// name is that of a group, and ceases to be one of teams whose names are not, if a
	// sign-in at the issuer gave the membership: the keys that the user has of such a team
	// are deleted. Memberships that SetMember set stay as they are.
	SignIn(ctx context.Context, identity Identity, create func() (*User, error), change func(*User) error) (*User, error)

	// LinkIdentity adds an identity to a user. It returns ErrTaken if a user has the
	// identity, ErrTooMany if the user has limit identities, and ErrNotFound for an unknown
	// user.
	LinkIdentity(ctx context.Context, identity Identity, limit int) error

	// IdentitiesOf returns the identities of a user, the oldest first.
	IdentitiesOf(ctx context.Context, user int64) ([]Identity, error)

	// DeleteIdentities deletes all identities and sessions of a user, and the memberships
	// that sign-ins gave, as SignIn does without groups.
	DeleteIdentities(ctx context.Context, user int64) error
}
