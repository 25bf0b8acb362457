package accounts

import (
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// shared is the state that survives a reload, as long as a configuration uses the
// store. Otherwise a reload would reset the throttles for guesses of passwords.
type shared struct {
	networks  *throttle // failed logins from a network
	pairs     *throttle // failed logins of a name from a network, whether or not it exists
	names     *throttle // failed logins of a name from networks that are not known
	owners    *throttle // wrong old passwords of a user who is logged in
	newcomers *throttle // registrations from a network
	changes   *shares   // changes in progress, by user

	warned atomic.Int64 // when the last refusal was logged, in Unix seconds
}

// perUser is the number of changes that one user may have in progress: a part of
// those that a store lets wait.
const perUser = 10

// stores holds the shared state by store.
var stores = caddy.NewUsagePool()

func acquire(store aigateway.Store) *shared {
	value, _, _ := stores.LoadOrNew(identity(store), func() (caddy.Destructor, error) {
		return newShared(), nil
	})
	return value.(*shared)
}

func release(store aigateway.Store) error {
	_, err := stores.Delete(identity(store))
	return err
}

// identity returns the value that all instances of one store have in common.
func identity(store aigateway.Store) any {
	if named, ok := store.(aigateway.StoreIdentity); ok {
		return named.Identity()
	}
	return store
}

func newShared() *shared {
	return &shared{
		networks:  newThrottle(20, 3*time.Second),
		pairs:     newThrottle(5, time.Minute),
		names:     newThrottle(50, time.Hour/50),
		owners:    newThrottle(5, time.Minute),
		newcomers: newThrottle(10, time.Minute),
		changes:   newShares(perUser),
	}
}

// Destruct does nothing: there is only memory to give back.
func (*shared) Destruct() error { return nil }
