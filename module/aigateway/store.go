package aigateway

import (
	"context"
	"errors"
)

// The errors of a Store, which wraps them.
var (
	ErrNotFound    = errors.New("not found")
	ErrTaken       = errors.New("the name is taken") // or a digest
	ErrTooMany     = errors.New("there are as many as may be")
	ErrLastRoot    = errors.New("the last enabled root user must stay")
	ErrBusy        = errors.New("too many are waiting to change the store") // which is no outage
	ErrUnavailable = errors.New("the store is not available")
)

// Store is what a guest module in the namespace ai_gateway.stores implements:
// where users, their sessions and their keys are kept.
//
// Nothing is opened while a configuration is provisioned, and a store that
// cannot be reached is no reason to refuse one: keys of the configuration work
// without it. Methods that take a context do I/O. Within some seconds, whatever
// the context says, they return; with an error that wraps ErrUnavailable where
// the store could not be reached or did not answer. Those that change something
// wait for each other, and where too many do, the error wraps ErrBusy. What they
// did then has happened whole or not at all. After an outage a store recovers by
// itself. Functions that methods are given run within a transaction: they are
// quick and do not call the Store.
type Store interface {
	// Open begins to follow the store: its keys are loaded, and loaded anew
	// when they change, here or in another process. It returns at once, and
	// may be called more than once.
	Open()
	// Lookup answers from memory, with what was known last: an outage changes
	// nothing for keys that are known. A change that was made through this
	// Store is seen at once, others within two seconds. Keys of disabled users
	// are disabled. The use of a key that is not is noted.
	KeySource
	// Complete reports whether Lookup knows all keys. While it does not, an
	// unknown key may still be a valid one.
	Complete() bool

	Users
	Sessions
	Keys
}

// StoreIdentity is what a Store implements that may have several instances in
// one process, such as those of two configurations during a reload.
type StoreIdentity interface {
	// Identity is the same for all instances that keep the same data, and tells
	// no secret.
	Identity() string
}

// StoreOpening is what a Store implements that can tell when it first looked
// for keys.
type StoreOpening interface {
	// Opened is closed once the store, after Open, has read its keys or has
	// failed to.
	Opened() <-chan struct{}
}

// Page selects a part of a list.
type Page struct {
	Search string // a part of a name, letter case ignored; empty for all
	Offset int    // how many to leave out, from 0
	Limit  int    // at most how many, from 1
}

// Users are the accounts of a Store. The error of an unknown one is ErrNotFound.
type Users interface {
	// CreateUser adds a user and sets ID and Created. It returns ErrTaken for
	// a name that another user has.
	CreateUser(context.Context, *User) error
	User(ctx context.Context, id int64) (*User, error)
	UserByName(ctx context.Context, name string) (*User, error)
	// Users returns a part of the users, by id, and how many there are.
	Users(context.Context, Page) (users []User, total int, err error)
	// ChangeUser lets change alter a user within one transaction, unless it
	// returns an error, which is returned as it is. ID, Name and Created stay.
	// A new password, and being disabled, end all sessions of the user in the
	// same transaction, but the one with the id keep, which may be 0. It
	// returns ErrLastRoot where no enabled root user would be left.
	ChangeUser(ctx context.Context, id, keep int64, change func(*User) error) (*User, error)
	// DeleteUser removes a user with all sessions and keys, unless check
	// returns an error, which is returned as it is. It returns ErrLastRoot as
	// ChangeUser does.
	DeleteUser(ctx context.Context, id int64, check func(*User) error) error
}

// Sessions are the logins of a Store.
type Sessions interface {
	// CreateSession adds a session and sets ID and Created, unless check
	// returns an error for its user as it is within the transaction, which is
	// returned as it is. It also notes the login, forgets sessions that have
	// expired, and ends the oldest ones of the user beyond most, from 1. The
	// error of an unknown user is ErrNotFound.
	CreateSession(ctx context.Context, session *Session, most int, check func(*User) error) error
	// Session returns the session with this digest, with its user, whether
	// or not it has expired. The error of an unknown one is ErrNotFound.
	Session(context.Context, Digest) (*Session, *User, error)
	// SessionsOf returns the sessions of a user that have not expired, the
	// latest first.
	SessionsOf(ctx context.Context, user int64) ([]Session, error)
	// DeleteSession removes a session of this user, else ErrNotFound.
	DeleteSession(ctx context.Context, user, id int64) error
	// DeleteSessionsOf removes all sessions of a user but the one with the id
	// except, which may be 0.
	DeleteSessionsOf(ctx context.Context, user, except int64) error
}

// AnyUser stands for a user's id where the keys of all users are meant.
const AnyUser int64 = 0

// Keys are the keys of a Store. A key of another user than the one asked for is
// ErrNotFound, as if it did not exist.
type Keys interface {
	// CreateKey adds a key and sets ID and Created. It returns ErrTooMany for
	// a user who has most keys already, however many are created at once. The
	// error of an unknown user is ErrNotFound.
	CreateKey(ctx context.Context, key *StoredKey, most int) error
	Key(ctx context.Context, user, id int64) (*StoredKey, error)
	// Keys returns a part of the keys, the latest first, and how many there are.
	Keys(ctx context.Context, user int64, page Page) (keys []StoredKey, total int, err error)
	// ChangeKey lets change alter a key within one transaction, unless it
	// returns an error, which is returned as it is. ID, UserID, Digest, Hint,
	// Created and Used stay.
	ChangeKey(ctx context.Context, user, id int64, change func(*StoredKey) error) (*StoredKey, error)
	DeleteKey(ctx context.Context, user, id int64) error
}
