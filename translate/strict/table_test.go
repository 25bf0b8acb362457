package strict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

var table = strict.NewTable(strict.Types{Member: "type", Names: []string{"text", "note", "image"}},
	strict.Member{Name: "type"},
	strict.Member{Name: "mark"},
	strict.Member{Name: "text", Types: "text note", Need: &strict.Need{Kind: jsonscan.String}},
	strict.Member{Name: "text", Types: "image"},
	strict.Member{Name: "lang", Types: "text note"},
	strict.Member{Name: "source", Types: "image", Need: &strict.Need{Kind: jsonscan.Object}},
	strict.Member{Name: "title", Types: "image", Need: &strict.Need{Texts: "words", Optional: true}},
)

func TestAShapeHasItsOwnMembers(t *testing.T) {
	assert.Equal(t, []string{"type", "mark", "text", "lang", "source", "title"}, table.Names())
	all := strict.Set(1<<len(table.Names()) - 1)
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

func TestTypesAreSetsOfShapes(t *testing.T) {
	set := table.Types("text image")
	assert.True(t, set.Has(table.Named("image")))
	assert.False(t, set.Has(table.Named("note")))
	assert.False(t, set.Has(table.Named("video")))
	assert.Empty(t, table.Named("video").Type())
}

func TestTablesAreBounded(t *testing.T) {
	var members []strict.Member
	for i := range strict.MaxMembers + 1 {
		members = append(members, strict.Member{Name: strings.Repeat("x", i+1)})
	}
	assert.NotPanics(t, func() { strict.NewTable(strict.Types{}, members[1:]...) })
	assert.Panics(t, func() { strict.NewTable(strict.Types{}, members...) })
}
