package aigateway

import (
	"net/netip"
	"time"
)

// Role decides what a user may do. A larger role includes the smaller ones.
type Role int

// The roles. Their numbers are part of the HTTP API of accounts.
const (
	RoleUser  Role = 1   // the user's own account, sessions and keys
	RoleAdmin Role = 10  // the accounts of users with a smaller role
	RoleRoot  Role = 100 // all accounts; the last enabled root user cannot be removed
)

// String returns the word of a role, "" for a number that is none.
func (r Role) String() string {
	switch r {
	case RoleUser:
		return "user"
	case RoleAdmin:
		return "admin"
	case RoleRoot:
		return "root"
	}
	return ""
}

// User is an account.
type User struct {
	ID          int64  // from 1; set by the store
	Name        string // unique, in lower case
	DisplayName string
	Role        Role
	Disabled    bool       // the user cannot log in, and the user's sessions and keys are refused
	Password    string     // hash in PHC string format, which includes the parameters
	Rules       LimitRules // what bounds all keys of the user together; zero: nothing
	Created     time.Time
	LastLogin   time.Time // zero: never
}

// Session is a login, which is valid until it expires or is deleted.
type Session struct {
	ID      int64 // from 1; set by the store
	UserID  int64
	Digest  Digest // of the session token
	Created time.Time
	Expires time.Time
	Address string // the address of the client at the login
	Agent   string // the User-Agent header at the login, shortened
}

// StoredKey is an API key in a Store.
type StoredKey struct {
	ID       int64  // from 1; set by the store
	UserID   int64  // the owner
	Name     string // chosen by the owner; not unique
	Hint     string // see APIKeyHint
	Digest   Digest // of the key; unique
	Replaced ReplacedSecret
	Bounds   KeyBounds
	Disabled bool
	Created  time.Time
	Expires  time.Time // zero: never
	Used     time.Time // the last use, accurate to about a minute; zero: never

	// Renewable is the time until which a program that has signed in renews Expires; zero: the key is none of
	// a program. Key and Keys read it, and no change stores it.
	Renewable time.Time
}

// Ends returns the time from which the key is refused for good: the end of the sign-in of a program, else
// Expires; zero: never.
func (k *StoredKey) Ends() time.Time {
	if k.Renewable.IsZero() {
		return k.Expires
	}
	return k.Renewable
}

// KeyBounds are what bounds the requests with a key of a Store, and the tags that they have.
type KeyBounds struct {
	Models   []string       // see Key.Models
	Networks []netip.Prefix // see Key.Networks
	Limit    string         // see Key.Limit
	Rules    LimitRules     // what bounds the key alone; zero: nothing
	Tags     []Tag          // ordered by name, each name once
}

// ReplacedSecret is the secret that a key had before its last rotation. Requests may use it until
// a time, as if it were the present one.
type ReplacedSecret struct {
	Digest Digest
	Until  time.Time // zero: there is none
}
