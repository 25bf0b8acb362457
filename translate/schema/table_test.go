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

var table = schema.NewTable(schema.Types{Member: "type", Names: []string{"text", "note", "image"}},
	schema.Member{Name: "type"},
	schema.Member{Name: "mark"},
	schema.Member{Name: "text", Types: "text note", Need: &schema.Need{Kind: jsonscan.String}},
	schema.Member{Name: "text", Types: "image"},
	schema.Member{Name: "lang", Types: "text note"},
	schema.Member{Name: "source", Types: "image", Need: &schema.Need{Kind: jsonscan.Object}},
	schema.Member{Name: "title", Types: "image", Need: &schema.Need{Texts: "words", Optional: true}},
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
	types, id := schema.Types{Names: []string{"a"}}, schema.Member{Name: "id", Need: &schema.Need{Kind: jsonscan.String}}
	first := schema.NewTable(types, schema.Member{Name: "type"}, id)
	schema.NewTable(types, schema.Member{Name: "type"}, schema.Member{Name: "name"}, id)
	needs := first.NeedsOf(first.Named("a"))
	require.Len(t, needs, 1)
	assert.Equal(t, 1, needs[0].Index)
	title := table.NeedsOf(table.Named("image"))[1]
	assert.True(t, title.Optional)
	assert.Equal(t, "words", title.Texts)
	assert.Empty(t, table.NeedsOf(table.Named("video")))
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
