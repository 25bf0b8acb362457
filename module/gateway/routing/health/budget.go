package health

import (
	"cmp"
	"sync/atomic"
)

// Budget bounds what is done beside requests, such as retries of calls of a provider, so that it does not
// add to the load of a provider in trouble. It allows a burst of freeUses, and further ones for a share of the
// requests. The zero value is a full budget of the usual share. Its methods may be called concurrently.
type Budget struct {
	Percent float64 // of the requests; default: usualPercent

	spent atomic.Int64 // in thousandths of requests
}

const (
	usualPercent = 10
	freeUses     = 10
	perRequest   = 1000
)

// price returns how many thousandths of requests pay for one use.
func (b *Budget) price() int64 { return int64(100 * perRequest / cmp.Or(b.Percent, usualPercent)) }

// Deposit counts a request, which earns a part of a use.
func (b *Budget) Deposit() {
	if spent := b.spent.Load(); spent > 0 {
		b.spent.CompareAndSwap(spent, max(0, spent-perRequest)) // a lost race loses one request, which does not matter
	}
}

// Withdraw takes a use from the budget, and reports whether there was one.
func (b *Budget) Withdraw() bool {
	price := b.price()
	if b.spent.Add(price) > price*freeUses {
		b.spent.Add(-price)
		return false
	}
	return true
}

// Return gives back a use for which nothing was done.
func (b *Budget) Return() {
	for {
		spent := b.spent.Load()
		if b.spent.CompareAndSwap(spent, max(0, spent-b.price())) {
			return
		}
	}
}
