package exchange

import (
	"sync"
	"sync/atomic"
)

// Lease is the memory of a request body, and the number of its holders: the exchange,
// and every call that has not closed its body. A transport may still read the body for
// a while after its call has returned; the last release returns the memory to the pool.
// A nil Lease is that of memory without a pool.
type Lease struct {
	buffer  []byte
	holders atomic.Int32
}

// maxPooled is the largest size of memory in the pool, which keeps it without a bound
// of time.
const maxPooled = 1 << 20

var leases = sync.Pool{New: func() any { return new(Lease) }}

// NewLease returns a lease with one holder.
func NewLease() *Lease {
	l := leases.Get().(*Lease)
	l.holders.Store(1)
	return l
}

// Buffer returns the leased memory, with length 0.
func (l *Lease) Buffer() []byte { return l.buffer[:0] }

// Keep replaces the leased memory by buffer, which may have grown.
func (l *Lease) Keep(buffer []byte) { l.buffer = buffer }

// Retain adds a holder.
func (l *Lease) Retain() {
	if l != nil {
		l.holders.Add(1)
	}
}

// Release removes a holder. The last one returns the memory to the pool.
func (l *Lease) Release() {
	if l == nil || l.holders.Add(-1) > 0 {
		return
	}
	if cap(l.buffer) > maxPooled {
		l.buffer = nil
	}
	leases.Put(l)
}
