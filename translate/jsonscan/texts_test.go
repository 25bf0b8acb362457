package jsonscan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var long = strings.Repeat(`a \"word\" `, 20)

// A request was searched twice for the ends of its strings, once to check and once to
// translate it.
func TestTextsAreNotSearchedAgain(t *testing.T) {
	document := []byte(`{"a":"short","b":["` + long + `",{"c":"` + long + `"}],"d":"` + long + `","e":1}`)
	var first Cursor
	first.Init(document)
	walk(&first, nil)
	require.NoError(t, first.Finish())
	texts := first.Texts()
	require.Len(t, texts, 3)
	for _, e := range texts {
		assert.Equal(t, `"`+long+`"`, string(document[e.start:e.end]))
	}

	// A reader that searched behind the first bytes would stop at the quotes in the texts.
	spoiled := bytes.Clone(document)
	for _, e := range texts {
		for i := int(e.start) + 1 + maxPlainName; i < int(e.end)-1; i++ {
			if spoiled[i] == '\\' {
				spoiled[i] = '"'
			}
		}
	}
	c := texts.Again(spoiled)
	read := map[string]Slot{}
	for c.OpenObject(); c.Member(); {
		name := string(c.Name())
		_, read[name] = c.SkipAt()
	}
	require.NoError(t, c.Finish())
	assert.Equal(t, int(texts[2].end), read["d"].End)
	assert.Equal(t, Slot{Start: read["d"].End + len(`,"e":`), End: read["d"].End + len(`,"e":1`)}, read["e"])

	var inner Cursor
	inner.Revisit(&c, read["b"])
	require.True(t, inner.EnterArray())
	require.True(t, inner.Element())
	_, slot := inner.SkipAt()
	assert.Equal(t, Slot{Start: int(texts[0].start), End: int(texts[0].end)}, slot)
	require.True(t, inner.Element())
	_, slot = inner.SkipAt()
	assert.Equal(t, int(texts[1].end)+len(`}`), slot.End)
	assert.False(t, inner.Element())
	assert.NoError(t, inner.Finish())
}

// A client that sorts its members sends the content of a message in front of the role. The content
// was searched for its end, byte by byte, before it could be read.
func TestANotedArrayIsNotSearchedAgain(t *testing.T) {
	document := `{"content":["` + long + `",{"a":1},["x"]],"role":"user"}`
	var first Cursor
	first.Init([]byte(document))
	for first.EnterObject(); first.Member(); {
		if string(first.Name()) != "content" {
			first.Skip()
			continue
		}
		start := first.Offset()
		for first.EnterArray(); first.Element(); {
			if kind, inner := first.SkipAt(); kind == Array {
				first.NoteArray(inner.Start)
			}
		}
		first.NoteArray(start)
	}
	require.NoError(t, first.Finish())

	// A reader that searched would stop at the first bracket that closes.
	texts, spoiled := first.Texts(), strings.Replace(document, `["x"]`, `]"x"]`, 1)
	assert.True(t, len(texts) == 3 && texts[0].start < texts[1].start && texts[1].start < texts[2].start, "%v: by their beginnings", texts)
	c := texts.Again([]byte(spoiled))
	require.True(t, c.EnterObject() && c.Member())
	_, slot := c.SkipAt()
	assert.Equal(t, `["`+long+`",{"a":1},]"x"]]`, spoiled[slot.Start:slot.End])
	require.True(t, c.Member())
	assert.Equal(t, `"user"`, string(c.Skip()))
	assert.False(t, c.Member())
	assert.NoError(t, c.Finish())

	plain := New([]byte(`[1]`))
	plain.Skip()
	plain.NoteArray(0)
	assert.Empty(t, plain.Texts(), "of a cursor that notes nothing")
}

// A cursor that reads ahead is a copy. What it notes is read, and noted, once more.
func TestACopyOfACursorNotesForItself(t *testing.T) {
	document := []byte(`["` + long + `","` + long + `"]`)
	var c Cursor
	c.Init(document)
	require.True(t, c.EnterArray())
	require.True(t, c.Element())
	c.Skip()
	ahead := c
	require.True(t, ahead.Element())
	ahead.Skip()
	require.True(t, c.Element())
	c.Skip()
	assert.Equal(t, ahead.Texts(), c.Texts())
	assert.Len(t, c.Texts(), 2)
}
