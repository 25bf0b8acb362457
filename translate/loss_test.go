package translate_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestLossesAreNotedOnceAndInOrder(t *testing.T) {
	var losses translate.Losses
	losses.Add(translate.Hint, "b")
	losses.AddIn(translate.Shaping, "messages.*.", "a")
	losses.AddIn(translate.Hint, "", "b")
	losses.Add(translate.Hint, "messages.*.a")
	losses.AddNamed(translate.Hint, "messages.*.", []byte("a"))
	losses.AddNamed(translate.Hint, "messages.", []byte("b"))
	assert.Equal(t, translate.Losses{{"b", translate.Hint}, {"messages.*.a", translate.Shaping}, {"messages.b", translate.Hint}}, losses)
}

func TestNamesOfLossesFitIntoAHeader(t *testing.T) {
	var losses translate.Losses
	for _, name := range []string{"a\r\nb", "é", "a,b", strings.Repeat("x", 65)} {
		losses.AddNamed(translate.Hint, "tools.*.", []byte(name))
	}
	assert.Equal(t, translate.Losses{{"tools.*.?", translate.Hint}}, losses)
}

func TestLossesAreBounded(t *testing.T) {
	var losses translate.Losses
	for i := range 100_000 {
		losses.Add(translate.Hint, strconv.Itoa(i))
	}
	assert.Len(t, losses, 256)
}
