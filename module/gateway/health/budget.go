package health

import "sync/atomic"

// Budget bounds the retries of calls of a provider, so that retries do not add to the
// load of a provider in trouble. It allows freeRetries retries in a burst, and one more
// for every retryEvery requests. The zero value is a full budget. Its methods may be
// called concurrently.
type Budget struct{ spent atomic.Int64 } // retries, each counted as retryEvery requests

const (
	retryEvery  = 10
	freeRetries = 10
)

// Deposit counts a request, which earns a part of a retry.
func (b *Budget) Deposit() {
	if spent := b.spent.Load(); spent > 0 {
		b.spent.CompareAndSwap(spent, spent-1) // a lost race loses one request, which does not matter
	}
}

// Withdraw takes a retry from the budget, and reports whether there was one.
func (b *Budget) Withdraw() bool {
	if b.spent.Add(retryEvery) > retryEvery*freeRetries {
		b.spent.Add(-retryEvery)
		return false
	}
	return true
}
