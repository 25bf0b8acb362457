package exchange

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLeasedMemoryIsOneHoldersUntilTheLastRelease(t *testing.T) {
	lease := NewLease()
	lease.Keep(append(lease.Buffer(), "body"...))
	held := *lease.memory
	lease.Retain()
	lease.Release()
	for range 100 { // while the lease has a holder, the pool returns other memory
		other := NewLease()
		other.Keep(append(other.Buffer(), "XXXX"...))
		assert.Equal(t, "body", string(held))
		defer other.Release()
	}
	lease.Release()
}

func TestLeasesMayBeReleasedFromManyGoroutines(t *testing.T) {
	lease := NewLease()
	var holders sync.WaitGroup
	for range 16 {
		lease.Retain()
		holders.Go(lease.Release)
	}
	holders.Wait()
	assert.EqualValues(t, 1, lease.holders.Load())
	lease.Release()
}

func TestANilLeaseHoldsNothing(t *testing.T) {
	var lease *Lease
	lease.Retain()
	lease.Release()
}

// A request that refers to texts of the client's body holds the memory of both, until the last of
// its own holders is gone.
func TestALeaseThatRefersToAnotherHoldsIt(t *testing.T) {
	source, lease := NewLease(), NewLease()
	lease.Refer(source)
	lease.Retain()
	source.Release()
	lease.Release()
	assert.EqualValues(t, 1, source.holders.Load())
	lease.Release()
	assert.Nil(t, source.memory)
	next := NewLease()
	assert.Nil(t, next.source)
	next.Release()
}
