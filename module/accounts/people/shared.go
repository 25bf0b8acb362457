package people

import (
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// shared is the state of accounts that survives a reload, as long as a configuration uses
// the store. Without it, a reload would reset the throttles of password guesses.
type shared struct {
	networks        *throttle.Throttle // failed logins from a network
	networkNames    *throttle.Throttle // failed logins of a name from a network, whether or not the name exists
	names           *throttle.Throttle // failed logins of a name from networks that are not known
	passwordChanges *throttle.Throttle // wrong old passwords of a logged-in user, and wrong codes of programs
	registrations   *throttle.Throttle // registrations from a network
	begins          *throttle.Throttle // sign-ins begun from a network, of persons and of programs
	signIns         *throttle.Throttle // failed answers of issuers, from a network
	changes         *throttle.Shares   // changes in progress, by user
	streams         *throttle.Shares   // streams of records, by user
	changesMade     *throttle.Throttle // changes and logins of a user with the smallest role
	audited         failures           // failed logins that are recorded

	warned atomic.Int64 // time of the last logged refusal, in Unix seconds
}

// maxChanges is the largest number of concurrent changes of one user. It is smaller than
// the number of changes that may wait for a store.
const maxChanges = 10

// maxStreams is the largest number of streams of records of one user. It is much smaller than
// accounting.MostWatches, so that no user has all of them.
const maxStreams = 4

// stores contains the shared state by store.
var stores = caddy.NewUsagePool()

func acquireShared(store aigateway.Store) *shared {
	value, _, _ := stores.LoadOrNew(identity(store), func() (caddy.Destructor, error) {
		return newShared(), nil
	})
	return value.(*shared)
}

func releaseShared(store aigateway.Store) error {
	_, err := stores.Delete(identity(store))
	return err
}

// identity returns a value that is the same for all instances of a store.
func identity(store aigateway.Store) any {
	if named, ok := store.(aigateway.StoreIdentity); ok {
		return named.Identity()
	}
	return store
}

func newShared() *shared {
	return &shared{
		networks:        throttle.New(20, 3*time.Second),
		networkNames:    throttle.New(5, time.Minute),
		names:           throttle.New(50, time.Hour/50),
		passwordChanges: throttle.New(5, time.Minute),
		registrations:   throttle.New(10, time.Minute),
		begins:          throttle.New(300, 200*time.Millisecond), // many persons may share an address
		signIns:         throttle.New(20, 3*time.Second),
		changes:         throttle.NewShares(maxChanges),
		streams:         throttle.NewShares(maxStreams),
		changesMade:     throttle.New(300, 6*time.Second),
		audited:         newFailures(),
	}
}

// Destruct implements caddy.Destructor. There is nothing to release.
func (*shared) Destruct() error { return nil }
