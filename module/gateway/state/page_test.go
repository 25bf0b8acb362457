package state

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Keys of two sites with one id, and with different owners, were on both sides of the end of a page:
// the second one was on none.
func TestPagesEndWithTheLastItemOfAName(t *testing.T) {
	first, second, third := Key{ID: "a", Owner: "x"}, Key{ID: "b", Owner: "x"}, Key{ID: "b", Owner: "y"}
	last := Key{ID: "c"}
	for after, want := range map[string]Page[Key]{
		"":  {[]Key{first, second, third}, "b"},
		"a": {[]Key{second, third}, "b"},
		"b": {[]Key{last}, ""},
		"c": {[]Key{}, ""},
	} {
		assert.Equal(t, want, PageOfKeys([]Key{last, third, first, second, first}, after, 2), "after %q", after)
	}
}
