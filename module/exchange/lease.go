package exchange

import (
	"sync"
	"sync/atomic"
)

// Lease is the pooled memory of a body, with the number of its holders. The holders of a
// request body are the exchange, and every call that has not closed its body: a transport may
// read the body after its call has returned. The holder of a JSON answer is the body of the
// response. The last release returns the memory to the pool; after it, the lease has none,
// because net/http keeps a request, and with it the lease of its body, until the answer has
// ended. A nil Lease is valid; its methods do nothing, except for Buffer and Keep.
type Lease struct {
	memory  *[]byte
	holders atomic.Int32
	source  *Lease // of which the memory has slices, see Refer; nil for none
}

// maxPooled is the largest size of memory in the pool, in bytes. Larger memory is freed,
// because the pool may keep memory for a long time.
const maxPooled = 1 << 20

var (
	leases   = sync.Pool{New: func() any { return new(Lease) }} // without memory
	memories = sync.Pool{New: func() any { return new([]byte) }}
)

// NewLease returns a lease with one holder.
func NewLease() *Lease {
	l := leases.Get().(*Lease)
	l.memory = memories.Get().(*[]byte)
	l.holders.Store(1)
	return l
}

// Buffer returns the leased memory, with length 0.
func (l *Lease) Buffer() []byte { return (*l.memory)[:0] }

// Keep replaces the leased memory by buffer, which may have grown.
func (l *Lease) Keep(buffer []byte) { *l.memory = buffer }

// Refer makes l a holder of another lease, up to the last release of l: what is in the memory of l
// refers to the memory of source.
func (l *Lease) Refer(source *Lease) {
	source.Retain()
	l.source = source
}

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
	memory, source := l.memory, l.source
	l.memory, l.source = nil, nil
	if cap(*memory) > maxPooled {
		*memory = nil
	}
	memories.Put(memory)
	leases.Put(l)
	source.Release()
}
