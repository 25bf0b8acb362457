package translate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	assert.Len(t, losses, 512)
}

func TestReportsOfLossesAreBounded(t *testing.T) {
	assert.Empty(t, translate.Losses(nil).String())
	assert.Equal(t, "a,b.*.c", translate.Losses{{Path: "a"}, {Path: "b.*.c"}}.String())

	var losses translate.Losses
	losses.Add(translate.Hint, strings.Repeat("x", 1018))
	losses.Add(translate.Hint, "yyyyy")
	assert.Len(t, losses.String(), 1024, "all of them fit")
	losses.Add(translate.Hint, "z")
	assert.Equal(t, strings.Repeat("x", 1018)+",+2", losses.String(), "room is left for the number")
}

// Names of any length fill the report before the losses are too many to count.
func TestReportsOfManyLossesSayHowManyAreLeftOut(t *testing.T) {
	for _, length := range []int{1, 2, 7, 64} {
		var losses translate.Losses
		for i := range 512 {
			losses.Add(translate.Hint, fmt.Sprintf("%0*x", length, i))
		}
		report := losses.String()
		assert.LessOrEqual(t, len(report), 1024)
		names := strings.Split(report, ",")
		more, err := strconv.Atoi(strings.TrimPrefix(names[len(names)-1], "+"))
		require.NoError(t, err, report)
		assert.Equal(t, len(losses), len(names)-1+more)
		assert.Greater(t, len(report), 1024-len(",+512")-length-1, "as many as fit")
	}
}

func TestWhatIsDroppedOfAnAnswerIsNotedOnce(t *testing.T) {
	var answer translate.Dropped
	assert.Empty(t, answer.Losses())
	answer.Drop("content.*")
	answer.Drop("content.*")
	assert.Equal(t, translate.Losses{{Path: "content.*", Class: translate.OfAnswer}}, answer.Losses())
}

func TestClassesOfLossesHaveAWord(t *testing.T) {
	assert.Equal(t, "hint shaping answer", fmt.Sprint(translate.Hint, translate.Shaping, translate.OfAnswer))
}
