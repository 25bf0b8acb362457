package aigateway

import (
	"context"
	"errors"
)

// The errors of a Store. Its methods return errors that wrap them.
var (
	ErrNotFound    = errors.New("not found")
	ErrTaken       = errors.New("the name is taken") // or the digest
	ErrTooMany     = errors.New("the largest number is reached")
	ErrLastRoot    = errors.New("the last enabled root user must stay")
	ErrBusy        = errors.New("too many changes are waiting for the store") // not an outage
	ErrUnavailable = errors.New("the database is not available")
)

// Store is the interface of the modules in the namespace ai_gateway.stores: a
// database of users, their sessions, their keys and their teams. A Store may also implement
// [StoreIdentity], [StoreOpening] and [Degradable].
//
// A store that cannot be reached does not keep a configuration from being loaded:
// the keys of the configuration work without it. After an outage, a store recovers
// by itself.
//
// Methods with a context do I/O. They return within a few seconds, even if the
// context allows more, and return ErrUnavailable if the store cannot be reached or
// does not answer. Changes are made one after the other; a method returns ErrBusy
// if too many changes are waiting. A change is made completely or not at all.
//
// Functions that a caller passes to a method run within a transaction: they return
// quickly and do not call the Store.
type Store interface {
	// Open starts a goroutine that loads all keys, and loads them again when this
	// process or another changes them. Open returns at once, and may be called several
	// times. The gateway calls it when the configuration starts; before that, a store
	// does no I/O by itself.
	Open()

	// Lookup returns keys from memory, so that known keys work during an outage.
	// It finds the changes of this Store at once, and those of other processes
	// within two seconds. Keys of disabled users are disabled. Lookup records
	// the time at which an enabled key was used.
	PartialKeySource

	Users
	Sessions
	Keys

	// Teams returns the teams of the store. It does no I/O.
	Teams() Teams
}

// StoreIdentity is an optional interface of a Store of which one process may have
// several instances, such as those of two configurations during a reload.
type StoreIdentity interface {
	// Identity returns the same text for all instances with the same data. The
	// text contains no secret.
	Identity() string
}

// StoreOpening is an optional interface of a Store that reads its keys in the
// background. The gateway waits for it, for a few seconds, when a configuration
// starts.
type StoreOpening interface {
	// Opened returns a channel that is closed when the first reading of the keys
	// after Open has ended, with or without success.
	Opened() <-chan struct{}
}

// Degradable is an optional interface of a Store, and of Counters.
type Degradable interface {
	// Degraded returns what does not work now, nil if all does. It reads memory alone.
	Degraded() error
}

// Page selects a part of a list.
type Page struct {
	Search string // a part of the name, or of the display name of a user, in any letter case; empty selects all
	Sort   string // the field that orders the list: one of UserOrders or KeyOrders; empty is the usual order
	Down   bool   // the largest value of Sort is the first
	Offset int    // the number of entries before the page, from 0
	Limit  int    // the largest number of entries of the page, from 1
}

// UserOrders and KeyOrders are the fields that order a list of users, and one of keys. Entries with
// the same value are in the usual order.
var (
	UserOrders = []string{"name", "display_name", "role", "disabled", "last_login", "created"}
	KeyOrders  = []string{"name", "user", "used", "expires", "created"}
)

// Users are the accounts of a Store. Methods return ErrNotFound for an unknown
// user.
type Users interface {
	// CreateUser adds a user, and sets its ID and Created. It returns ErrTaken if
	// another user has the name.
	CreateUser(context.Context, *User) error

	User(ctx context.Context, id int64) (*User, error)
	UserByName(ctx context.Context, name string) (*User, error)

	// Users returns a page of the users, usually ordered by ID, and the number of all users
	// that the page searches for.
	Users(context.Context, Page) (users []User, total int, err error)

	// ChangeUser calls change within a transaction, and stores the user as change
	// leaves it, except for ID, Name and Created. An error of change is returned
	// unchanged, and nothing is stored. If the password changes or the user becomes
	// disabled, the same transaction deletes all sessions of the user except the
	// one with the ID keep, which may be 0. ChangeUser returns ErrLastRoot if no
	// enabled root user would remain.
	ChangeUser(ctx context.Context, id, keep int64, change func(*User) error) (*User, error)

	// DeleteUser deletes a user with all sessions and keys, after check has accepted
	// the user. An error of check is returned unchanged. DeleteUser returns
	// ErrLastRoot if no enabled root user would remain.
	DeleteUser(ctx context.Context, id int64, check func(*User) error) error
}

// Sessions are the logins of a Store.
type Sessions interface {
	// CreateSession adds a session, and sets its ID and Created, after check has
	// accepted the user within the transaction. An error of check is returned
	// unchanged. CreateSession also records the time of the login, deletes expired
	// sessions, and deletes the oldest sessions of the user beyond limit, which is
	// at least 1. It returns ErrNotFound for an unknown user.
	CreateSession(ctx context.Context, session *Session, limit int, check func(*User) error) error

	// Session returns the session with this digest, expired or not, and its user.
	// It returns ErrNotFound for an unknown session.
	Session(context.Context, Digest) (*Session, *User, error)

	// SessionsOf returns the sessions of a user that have not expired, the latest
	// first.
	SessionsOf(ctx context.Context, user int64) ([]Session, error)

	// DeleteSession deletes a session of this user. It returns ErrNotFound if the
	// user has no such session.
	DeleteSession(ctx context.Context, user, id int64) error

	// DeleteSessionsOf deletes all sessions of a user except the one with the ID
	// kept, which may be 0.
	DeleteSessionsOf(ctx context.Context, user, kept int64) error
}

// AnyUser selects the keys of all users, in place of the ID of a user.
const AnyUser int64 = 0

// Keys are the keys of a Store. Methods return ErrNotFound for the key of another
// user, as if it did not exist.
type Keys interface {
	// CreateKey adds a key, and sets its ID and Created. It returns ErrTooMany if
	// the user already has limit keys, even if several keys are created at once,
	// and ErrNotFound for an unknown user. See also Teams.
	CreateKey(ctx context.Context, key *StoredKey, limit int) error

	Key(ctx context.Context, user, id int64) (*StoredKey, error)

	// Keys returns a page of the keys, the latest first, and the number of all keys
	// that the page searches for. It leaves out the keys of sign-ins that have ended, which do not count
	// in CreateKey either.
	Keys(ctx context.Context, user int64, page Page) (keys []StoredKey, total int, err error)

	// ChangeKey calls change within a transaction, and stores the key as change
	// leaves it, except for ID, UserID, Created and Used. An error of change is
	// returned unchanged, and nothing is stored. A change of Digest is a rotation,
	// in which Replaced has the digest before. See also Teams.
	ChangeKey(ctx context.Context, user, id int64, change func(*StoredKey) error) (*StoredKey, error)

	DeleteKey(ctx context.Context, user, id int64) error
}
