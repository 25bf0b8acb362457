package accounts

import (
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// shared is what outlives a reload, as long as one configuration uses the store:
// else a reload would give whoever guesses passwords a new start.
type shared struct {
	networks  *throttle // failed logins from a network
	pairs     *throttle // failed logins of a name from a network, whether or not it exists
	names     *throttle // failed logins of a name from anywhere but home
	owners    *throttle // wrong old passwords of a user who is logged in
	newcomers *throttle // registrations from a network
	changes   *shares   // of a user, under way

	warned atomic.Int64 // when the last refusal was logged, in Unix seconds
}

// perUser is how many changes one user may have under way: a part of those that
// a store has in line.
const perUser = 10

// stores holds what is shared, by the store.
var stores = caddy.NewUsagePool()

func acquire(store exchange.Store) *shared {
	value, _, _ := stores.LoadOrNew(identity(store), func() (caddy.Destructor, error) {
		return newShared(), nil
	})
	return value.(*shared)
}

func release(store exchange.Store) error {
	_, err := stores.Delete(identity(store))
	return err
}

// identity is what the instances of one store have in common.
func identity(store exchange.Store) any {
	if named, ok := store.(exchange.StoreIdentity); ok {
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
