package exchange

import (
	"sync"
	"sync/atomic"
)

// Lease counts who still reads a request body whose memory goes back to a
// pool: the exchange, and every call that has not closed its body yet. A
// transport may go on reading for a while after its call has returned, so only
// the last release gives the memory back. A nil Lease is one of memory that
// belongs to no pool.
type Lease struct {
	buffer  []byte
	holders atomic.Int32
}

// maxPooled keeps a few giant bodies from staying in memory for ever.
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

// Keep makes buffer the leased memory: it may have been replaced by a larger one.
func (l *Lease) Keep(buffer []byte) { l.buffer = buffer }

// Retain adds a holder.
func (l *Lease) Retain() {
	if l != nil {
		l.holders.Add(1)
	}
}

// Release ends the use of the memory by one holder.
func (l *Lease) Release() {
	if l == nil || l.holders.Add(-1) > 0 {
		return
	}
	if cap(l.buffer) > maxPooled {
		l.buffer = nil
	}
	leases.Put(l)
}
