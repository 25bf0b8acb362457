package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
)

func TestNamesAreFoundWhateverTheyLookLike(t *testing.T) {
	var list []string
	for i := range 200 {
		list = append(list, strings.Repeat("x", i%7+1)+string(rune('a'+i%26))+strings.Repeat("y", i/26+1)+string(rune('0'+i%10)))
	}
	list = list[:100]
	names := schema.NewNames(list...)
	for i, name := range list {
		assert.Equal(t, i, names.Index([]byte(name)), name)
	}
	for _, name := range []string{"", "x", "type", list[0] + "z"} {
		assert.Equal(t, -1, names.Index([]byte(name)), name)
	}
}

var table = schema.New("type mark",
	schema.Of("text note", "lang", schema.A(jsonscan.String, "text")),
	schema.Of("image", "text", schema.A(jsonscan.Object, "source"), schema.Texts("title", "words").OrNone()),
)

func TestAShapeHasItsOwnMembers(t *testing.T) {
	assert.Equal(t, []string{"type", "mark", "text", "lang", "source", "title"}, table.Names())
	all := schema.Set(1<<len(table.Names()) - 1)
	others := func(kind string) (names []string) {
		for i, others := 0, table.Shape([]byte(kind)).Others(all); others != 0; i, others = i+1, others>>1 {
			if others&1 == 1 {
				names = append(names, table.Names()[i])
			}
		}
		return names
	}
	assert.Equal(t, []string{"source", "title"}, others("text"))
	assert.Equal(t, []string{"source", "title"}, others("note"), "of two types with one shape")
	assert.Equal(t, []string{"lang"}, others("image"))
	assert.Empty(t, others("video"), "nothing is known of an unknown type")
}

// A table must not write the indices of its members into the list of another one.
func TestNeedsKnowTheirMembers(t *testing.T) {
	needs := []schema.Need{schema.A(jsonscan.String, "id")}
	first := schema.New("type", schema.Of("a", "", needs...))
	schema.New("type name", schema.Of("a", "", needs...))
	require.Len(t, first.Named("a").Needs(), 1)
	assert.Equal(t, 1, first.Named("a").Needs()[0].Index)
	title := table.Named("image").Needs()[1]
	assert.True(t, title.Optional)
	assert.Equal(t, "words", title.Texts)
	assert.Empty(t, table.Named("video").Needs())
}

func TestTypesAreSetsOfShapes(t *testing.T) {
	set := table.Types("text image")
	assert.True(t, set.Has(table.Named("image")))
	assert.False(t, set.Has(table.Named("note")))
	assert.False(t, set.Has(table.Named("video")))
	assert.Empty(t, table.Named("video").Type())
}

func TestTablesAreBounded(t *testing.T) {
	names := []string{"a"}
	for i := range schema.MaxMembers {
		names = append(names, strings.Repeat("x", i+2))
	}
	assert.Panics(t, func() { schema.New(strings.Join(names, " ")) })
}
