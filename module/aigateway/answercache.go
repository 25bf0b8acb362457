package aigateway

import "time"

// AnswerCache is the interface of the modules in the namespace ai_gateway.caches: a store of cached
// answers that several gateways share. The gateway encrypts the values, and no name contains a
// part of a prompt in clear. The methods may be called concurrently. A client waits for each call:
// a store that is slow or not available must return an error soon, and the request is then served
// without the cache.
type AnswerCache interface {
	// Get returns the value with a name, nil if there is none.
	Get(name string) (value []byte, err error)
	// Put keeps a value for a time, in place of an earlier one, and at least until that one would have ended.
	Put(name string, value []byte, ttl time.Duration) error
	// Remove removes all values whose names begin with prefix, and returns their number. It may
	// take as long as it needs.
	Remove(prefix string) (removed int, err error)
}
