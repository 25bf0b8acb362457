package state

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Keys of two sites with one id, and with different owners, were on both sides of the end of a page:
// the second one was on none.
func TestPagesEndWithTheLastItemOfAName(t *testing.T) {
	first, second, third := Key{ID: "a", Owner: "x"}, Key{ID: "b", Owner: "x"}, Key{ID: "b", Owner: "y"}
	last := Key{ID: "c"}
	for after, want := range map[string]api.Page[Key]{
		"":  {Items: []Key{first, second, third}, Next: "b"},
		"a": {Items: []Key{second, third}, Next: "b"},
		"b": {Items: []Key{last}},
		"c": {Items: []Key{}},
	} {
		assert.Equal(t, want, pageOfKeys([]Key{last, third, first, second, first}, Page{2, after}), "after %q", after)
	}
}

// A key of the global option is a key of every site; keys that differ were one before, of which
// nobody knew the site.
func TestAKeyOccursOnceForItsSites(t *testing.T) {
	got := pageOfKeys([]Key{
		{ID: "shared", Sites: []string{"a"}}, {ID: "own", Limit: "small", Sites: []string{"a"}},
		{ID: "shared", Sites: []string{"b"}}, {ID: "own", Limit: "large", Sites: []string{"b"}},
	}, Page{Size: 9})
	assert.Equal(t, []Key{
		{ID: "own", Limit: "small", Sites: []string{"a"}}, {ID: "own", Limit: "large", Sites: []string{"b"}},
		{ID: "shared", Sites: []string{"a", "b"}},
	}, got.Items)
}

func TestSizesOfPagesAreWithinTheirBounds(t *testing.T) {
	for query, want := range map[string]Page{
		"": {Size: 100}, "limit=7&after=x": {7, "x"}, "limit=0": {Size: 1}, "limit=-3": {Size: 1}, "limit=101": {Size: 100},
	} {
		values, _ := url.ParseQuery(query)
		got, err := ReadPage(values, 100)
		assert.NoError(t, err, query)
		assert.Equal(t, want, got, query)
	}
	for _, wrong := range []string{"x", "", "1.5"} {
		_, err := ReadPage(url.Values{"limit": {wrong}}, 100)
		assert.ErrorContains(t, err, "limit must be a whole number", wrong)
	}
}
