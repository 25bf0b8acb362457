package strict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIntegersAreRecognisedInEveryNotation(t *testing.T) {
	for _, number := range []string{
		"0", "-0", "0.0", "-0.000", "0e9", "0.0e-99999999999999999999", "16", "16.0", "1.6e1", "1.60e1", "160e-1", "1600E-2",
		"-3", "123456789012345678901234567890", "9007199254740993", "1e400", "1.5e+1", "1e99999999999999999999", "100e-2",
	} {
		assert.True(t, integral([]byte(number)), number)
	}
	for _, number := range []string{
		"16.5", "0.1", "-0.5", "1.65e1", "1e-1", "105e-2", "9007199254740993.5", "1e-99999999999999999999", "123456789012345678901234567890.1", "10e-2",
	} {
		assert.False(t, integral([]byte(number)), number)
	}
}

func TestPathsAreWrittenInBothNotations(t *testing.T) {
	for notation, want := range map[Notation]string{
		Dots:     "messages.0.content.12.text",
		Brackets: "messages[0].content[12].text",
	} {
		p := &begin([]byte(`{}`), notation, nil).Pass
		p.push("messages")
		p.pushIndex(0)
		p.push("content")
		p.pushIndex(12)
		p.push("other")
		p.pop()
		p.push("text")
		assert.Equal(t, want, p.path.String())
	}
}

func TestPathsBeyondTheBoundAreCutOff(t *testing.T) {
	p := &begin([]byte(`{}`), Dots, nil).Pass
	for range maxSteps + 3 {
		p.push("a")
	}
	assert.Equal(t, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", p.path.String())
	for range maxSteps + 2 {
		p.pop()
	}
	assert.Equal(t, "a", p.path.String())
}

func TestTheEarlierFaultWins(t *testing.T) {
	p := &Read([]byte(`{}`), Dots, nil).Pass
	p.Row(3)
	p.NoteMember("c", "third")
	p.Row(2)
	p.Item(1)
	p.NoteMember("b", "second element")
	p.Item(0)
	p.Part(5)
	p.NoteMember("b", "fifth part")
	p.Part(1)
	p.NoteMember("b", "first part")
	p.NoteMember("b", "first part once more")
	p.Row(3)
	p.NoteMember("c", "third once more")
	assert.Equal(t, firstFault{order: 2<<56 | 1<<28 | 1, at: "b", what: "first part"}, p.found)
	p.Row(2)
	p.NoteMember("b", "the array itself")
	assert.Equal(t, "the array itself", p.found.what)
}
