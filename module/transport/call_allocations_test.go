//go:build !race

package transport

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The race detector empties pools at random, and so adds allocations.

// Each call has an exact bound, so that an allocation that is added to the way of all requests
// or of all events is noticed. The answer is read without an allocation.
func TestAllocationsOfACall(t *testing.T) {
	for i, c := range calls {
		for _, events := range []int{10, 1000} {
			call := newCallOf(t, i, events)
			least := math.Inf(1)
			for range 100 {
				least = min(least, testing.AllocsPerRun(1, func() { call(discard) }))
			}
			assert.LessOrEqual(t, least, c.allocations, "%s, %d events", c.name, events)
		}
	}
}

// discard reads all without keeping it.
func discard(r io.Reader) ([]byte, error) {
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, discarded[:])
	return nil, err
}

var discarded [32 << 10]byte
