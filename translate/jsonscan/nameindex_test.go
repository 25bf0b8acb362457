package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestNamesAreFoundWhateverTheyLookLike(t *testing.T) {
	var list []string
	for i := range 200 {
		list = append(list, strings.Repeat("x", i%7+1)+string(rune('a'+i%26))+strings.Repeat("y", i/26+1)+string(rune('0'+i%10)))
	}
	list = list[:100]
	names := jsonscan.NewNameIndex(list...)
	for i, name := range list {
		assert.Equal(t, i, names.Find([]byte(name)), name)
	}
	for _, name := range []string{"", "x", "type", list[0] + "z"} {
		assert.Equal(t, -1, names.Find([]byte(name)), name)
	}
}
