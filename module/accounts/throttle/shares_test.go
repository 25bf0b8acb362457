package throttle

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNoHolderHasMoreThanItsShare(t *testing.T) {
	s := NewShares(2)
	assert.True(t, s.Acquire("a"))
	assert.True(t, s.Acquire("a"))
	assert.False(t, s.Acquire("a"))
	assert.True(t, s.Acquire("b"), "others have their own share")
	s.Release("a")
	assert.True(t, s.Acquire("a"), "what is returned can be taken again")
	for range 3 {
		assert.True(t, s.Acquire(""), "the holder without a name has no bound")
	}
}
