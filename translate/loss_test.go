package translate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestLossesAreNotedOnceAndInOrder(t *testing.T) {
	var losses translate.Losses
	losses.Add(translate.Hint, "b")
	losses.AddIn(translate.Shaping, "messages.*.", "a")
	losses.AddIn(translate.Hint, "", "b")
	losses.Add(translate.Hint, "messages.*.a")
	losses.AddNamed(translate.Hint, "messages.*.", []byte("a"))
	losses.AddNamed(translate.Hint, "messages.", []byte("b"))
	assert.Equal(t, translate.Losses{{Path: "b"}, {Path: "messages.*.a", Class: translate.Shaping}, {Path: "messages.b", Foreign: true}}, losses)
}

// Clients and providers choose the names of unknown fields; those are no names for metrics.
func TestNamesOfLossesAreBounded(t *testing.T) {
	var losses, below translate.Losses
	losses.Add(translate.Hint, "messages.*.content.*.thinking")
	losses.AddNamed(translate.Hint, "", []byte("unheard_of"))
	losses.AddMember(translate.Hint, []byte("tools.*."), []byte("mine"))
	below.AddNamed(translate.Shaping, ".properties.*.", []byte("pattern"))
	losses.AddBelow("tools.*.input_schema", below)
	losses.AddNamed(translate.Hint, "tools.*.", nil)
	var answer translate.Dropped
	answer.Drop("content.*")
	answer.DropNamed("", []byte("timings"))
	answer.DropNamed("choices[*].message.", []byte("mood"))
	answer.DropNamed("choices[*].finish_reason=", []byte("bored"))
	losses.AddAll(answer.Losses())
	var names []string
	for _, loss := range losses {
		names = append(names, loss.Name())
	}
	assert.Equal(t, []string{
		"messages.*.content.*.thinking", "?", "tools.*.?", "tools.*.input_schema.properties.*.?", `tools.*.""`,
		"content.*", "?", "choices[*].message.?", "choices[*].finish_reason",
	}, names)
}

func TestNamesOfLossesFitIntoAHeader(t *testing.T) {
	var losses translate.Losses
	for _, name := range []string{"a\r\nb", "é", "a,b", strings.Repeat("x", 65)} {
		losses.AddNamed(translate.Hint, "tools.*.", []byte(name))
	}
	assert.Equal(t, translate.Losses{{Path: "tools.*.?"}}, losses)
}

// A bug was here: a member whose name is empty was reported as an empty item of
// the list, which no reader of the list can see.
func TestAMemberWithAnEmptyNameIsSeenInTheReport(t *testing.T) {
	var losses translate.Losses
	losses.AddNamed(translate.Hint, "", nil)
	losses.AddNamed(translate.Hint, "tools.*.", []byte{})
	losses.AddNamed(translate.Hint, "", []byte("a"))
	assert.Equal(t, `"",tools.*."",a`, losses.String())
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
func TestReportsOfManyLossesCountTheOmittedOnes(t *testing.T) {
	for _, length := range []int{1, 2, 7, 64} {
		var losses translate.Losses
		for i := range 512 {
			losses.Add(translate.Hint, fmt.Sprintf("%0*x", length, i))
		}
		report := losses.String()
		assert.LessOrEqual(t, len(report), 1024)
		names := strings.Split(report, ",")
		left, found := strings.CutSuffix(names[len(names)-1], " or more")
		assert.True(t, found, "no more than 512 are counted, so the number is the least that there can be")
		more, err := strconv.Atoi(strings.TrimPrefix(left, "+"))
		require.NoError(t, err, report)
		assert.Equal(t, len(losses), len(names)-1+more)
		assert.Greater(t, len(report), 1024-len(",+512 or more")-length-1, "as many as fit")
	}
}

func TestWhatIsDroppedOfAnAnswerIsNotedOnce(t *testing.T) {
	var answer translate.Dropped
	assert.Empty(t, answer.Losses())
	answer.Drop("content.*")
	answer.Drop("content.*")
	assert.Equal(t, translate.Losses{{Path: "content.*", Class: translate.OfAnswer}}, answer.Losses())
}

// Ensures that a provider which invents a new name in every chunk costs no more
// memory, and no longer a list of metrics, than one that keeps to a few.
func TestNamesThatAProviderChoseAreBounded(t *testing.T) {
	var answer translate.Dropped
	for i := range 100_000 {
		answer.DropNamed("a.", strconv.AppendInt([]byte("n"), int64(i), 10))
	}
	answer.DropNamed("a.", []byte("n0"))
	answer.DropNamed("a.", nil)
	losses := answer.Losses()
	require.Len(t, losses, 32+2)
	assert.Equal(t, translate.Loss{Path: "a.n0", Class: translate.OfAnswer, Foreign: true}, losses[0])
	assert.Equal(t, translate.Loss{Path: "a.?", Class: translate.OfAnswer}, losses[32])
	assert.Equal(t, `a.""`, losses[33].Path)
}

func TestNamesThatAProviderChoseFitIntoALog(t *testing.T) {
	var answer translate.Dropped
	for _, name := range []string{"a\r\nb", "a,b", strings.Repeat("x", 65)} {
		answer.DropNamed("", []byte(name))
	}
	assert.Equal(t, "?", answer.Losses().String())
}

// Two bugs were here: if a client or a provider used a key as the name of a member, the
// key was written into the log.
func TestNamesThatAreNoneOfMembersAreNotRepeated(t *testing.T) {
	for _, name := range []string{"sk-abcdef", "sk_live_4242abc13", "0a1b2c3d4e5f", "AKIAABCDEFGHIJKL", strings.Repeat("x", 42), "_a"} {
		var answer translate.Dropped
		answer.DropNamed("a.", []byte(name))
		assert.Equal(t, "a.?", answer.Losses().String(), name)
		var request translate.Losses
		request.AddNamed(translate.Hint, "a.", []byte(name))
		request.AddMember(translate.Hint, []byte("a."), []byte(name))
		assert.Equal(t, "a.?", request.String(), name)
	}
	for _, name := range []string{"timings", "reasoning_details", "ephemeral_5m_input_tokens", "top_p2"} {
		var answer translate.Dropped
		answer.DropNamed("a.", []byte(name))
		assert.Equal(t, "a."+name, answer.Losses().String())
	}
}

func TestADroppedMemberIsReportedUnlessItIsBlank(t *testing.T) {
	var answer translate.Dropped
	c := jsonscan.New([]byte(`{"a":null,"b":"","c":[ ],"d":{},"e":0,"f":false,"g":[null],"\u0068":"x"}`))
	for c.EnterObject(); c.Member(); {
		answer.DropMember("x.", &c)
	}
	require.NoError(t, c.Finish())
	assert.Equal(t, "x.e,x.f,x.g,x.h", answer.Losses().String())
}

func TestNotingALossAgainCostsNoAllocation(t *testing.T) {
	var answer translate.Dropped
	name := []byte(strings.Repeat("x", 41))
	answer.DropNamed("choices[*].", name)
	assert.Zero(t, testing.AllocsPerRun(100, func() { answer.DropNamed("choices[*].", name) }))
}

func TestClassesOfLossesHaveAWord(t *testing.T) {
	assert.Equal(t, "hint shaping answer", fmt.Sprint(translate.Hint, translate.Shaping, translate.OfAnswer))
}
