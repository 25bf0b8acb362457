package core

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An extension of the client whose value had the bytes of a member kept the gateway from writing
// the member.
func TestHasFindsNoNamesInValues(t *testing.T) {
	m := Members(`,"a":{"b":1,"modalities":["text"]},"c":",\"d\":","e":2`)
	for name, want := range map[string]bool{"a": true, "c": true, "e": true, "modalities": false, "b": false, "d": false, "f": false} {
		assert.Equal(t, want, m.Has(name), name)
	}
	assert.False(t, Members(nil).Has("a"))
}
