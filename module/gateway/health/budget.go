package health

import "sync/atomic"

// Budget bounds how often calls of a provider are repeated, so that a provider that has
// trouble does not get more calls because of it: freeRetries at once, and one more for
// every retryEvery requests. The zero value is full; the methods may be called at once.
type Budget struct{ spent atomic.Int64 } // in requests that pay for it

const (
	retryEvery  = 10
	freeRetries = 10
)

// Deposit notes a request, which pays for a part of a later retry.
func (b *Budget) Deposit() {
	if spent := b.spent.Load(); spent > 0 {
		b.spent.CompareAndSwap(spent, spent-1) // else others have changed it: one request is no matter
	}
}

// Withdraw reports whether there is room for a retry, and takes it.
func (b *Budget) Withdraw() bool {
	if b.spent.Add(retryEvery) > retryEvery*freeRetries {
		b.spent.Add(-retryEvery)
		return false
	}
	return true
}
