// Package people has the rules by which users, their sessions, keys and passwords change. The
// packages of the APIs read requests and write answers; what a change needs is decided here, once.
//
// It promises that the store contains only hashes of passwords, and digests of session tokens and
// keys; that a role that is lost while a change waits prevents the change; and that guesses of
// passwords are throttled without revealing which names exist. It refuses to see more of a request
// than package call shows.
package people

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// People are the users of a store, with their sessions and keys.
type People struct {
	Store    aigateway.Store
	Limits   aigateway.LimitReader      // nil for the commands of this machine
	Reserved func(username string) bool // nil if no name is reserved
	Settings
	Hashing
	Throttles
}

// Settings are what the configuration says of people.
type Settings struct {
	Session      time.Duration // the lifetime of a session
	KeyLimit     string        // of the keys that users create, unless they are administrators
	Registration bool          // anyone may create an account
	PasswordOff  bool          // logins with passwords are refused
}

// MaxTeams is the largest number of teams of a user.
const MaxTeams = 100

// New returns the people of a store that is not known yet.
func New(settings Settings, throttles Throttles) *People {
	return &People{Settings: settings, Throttles: throttles, Hashing: Hashing{processQueue, OWASP}}
}

// UseStore sets the store. All configurations of this process count the failed logins of a store
// together.
func (p *People) UseStore(store aigateway.Store) {
	p.Store = store
	p.shared = acquireShared(store)
}

// Release releases the state that configurations share.
func (p *People) Release() error {
	if p.shared == nil {
		return nil
	}
	return releaseShared(p.Store)
}
