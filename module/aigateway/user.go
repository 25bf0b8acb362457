package aigateway

import (
	"net/netip"
	"time"
)

// Role says what a user may do. A greater one may do all that a smaller may.
type Role int

// The roles. The numbers are those that clients of such services know.
const (
	RoleUser  Role = 1   // one's own account, sessions and keys
	RoleAdmin Role = 10  // the accounts of users with a smaller role
	RoleRoot  Role = 100 // all accounts; the last one cannot be removed
)

// User is an account.
type User struct {
	ID          int64  // from 1; given by the store
	Name        string // unique, in lower case
	DisplayName string
	Role        Role
	Disabled    bool   // neither login, sessions nor keys are accepted
	Password    string // its hash, in the format that tells how it was made
	Created     time.Time
	LastLogin   time.Time // zero means never
}

// Session is a login that lasts until it expires or is revoked.
type Session struct {
	ID      int64 // from 1; given by the store
	UserID  int64
	Digest  Digest // of its token
	Created time.Time
	Expires time.Time
	Address string // where the login came from
	Agent   string // what the client called itself, cut short
}

// StoredKey is an API key as a store keeps it.
type StoredKey struct {
	ID       int64  // from 1; given by the store
	UserID   int64  // of its owner
	Name     string // what its owner calls it; not unique
	Hint     string // of APIKeyHint
	Digest   Digest // of the key, unique
	Models   []string
	Networks []netip.Prefix
	Limit    string
	Disabled bool
	Created  time.Time
	Expires  time.Time // zero means never
	Used     time.Time // when it was last used, to a minute or so; zero means never
}
