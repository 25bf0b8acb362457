package members_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

var (
	item     = members.New("item.")
	itemText = item.Of(members.String, "text delta")
	itemID   = item.Maybe(members.String, "id")
	itemList = item.Must(members.Array|members.Object, "list")
	_        = item.Lost("sound")
	_        = item.Skip("role")
	inner    = item.Inside("item.inner.", "inner")
	innerN   = inner.Maybe(members.Number, "n")
	vital    = item.MustInside("item.vital.", "vital")
	vitalAny = vital.Of(members.Any, "any")
)

// read reads an object, and returns its values as they are in the document.
func read(t *testing.T, object string) (v members.Values, lost translate.Losses) {
	c := jsonscan.New([]byte(object))
	var dropped translate.Dropped
	assert.Equal(t, object[0] == '{', v.Read(&c, item, &dropped))
	require.NoError(t, c.Finish(), object)
	return v, dropped.Losses()
}

func TestMembersAreKeptOrReported(t *testing.T) {
	for object, want := range map[string]struct{ values, losses string }{
		`{"text":"a","id":"b","list":[1],"inner":{"n":1},"vital":{"any":null}}`: {`"a" "b" [1] 1 null`, ""},
		`{"delta":"a","text":"c"}`:                  {`"c"    `, ""},
		`{"text":5,"id":5,"role":5}`:                {`    `, "item.text"},
		`{"delta":[5],"sound":{"x":1},"new":1}`:     {`    `, "item.delta,item.sound,item.new"},
		`{"text":null,"id":[],"sound":{},"new":""}`: {`    `, ""},
		`{"list":null,"inner":[],"vital":null}`:     {`    `, ""},
		`{"list":{"a":1},"inner":{"n":"x","m":1}}`:  {`  {"a":1}  `, "item.inner.m"},
		`{"inner":7,"vital":{"some":1,"any":[]}}`:   {`    []`, "item.inner,item.vital.some"},
		`{"list":"x"}`:             {`     unreadable`, ""},
		`{"vital":"x","text":"a"}`: {`"a"     unreadable`, ""},
		`["text"]`:                 {`    `, ""},
		"{ \"inner\" : { \"n\" : 1.5 } , \"text\":\"\"}": {`""   1.5 `, ""},
	} {
		v, losses := read(t, object)
		got := fmt.Sprintf("%s %s %s %s %s", v.Raw(itemText), v.Raw(itemID), v.Raw(itemList), v.Raw(innerN), v.Raw(vitalAny))
		if v.Unreadable() {
			got += " unreadable"
		}
		assert.Equal(t, want.values, got, object)
		assert.Equal(t, want.losses, losses.String(), object)
	}
}

// A name that a provider chose is marked as foreign; one of the format is not.
func TestOnlyNamesOfTheDocumentAreForeign(t *testing.T) {
	_, losses := read(t, `{"sound":1,"new":1}`)
	assert.Equal(t, translate.Losses{{Path: "item.sound", Class: translate.OfAnswer}, {Path: "item.new", Class: translate.OfAnswer, Foreign: true}}, losses)
}

func TestWithoutLossesNothingIsReported(t *testing.T) {
	var v members.Values
	c := jsonscan.New([]byte(`{"text":5,"new":{"a":1},"sound":1,"id":"b"}`))
	assert.True(t, v.Read(&c, item, nil))
	require.NoError(t, c.Finish())
	assert.Equal(t, `"b"`, string(v.Raw(itemID)))
}

func TestPositionsAreThoseOfTheDocument(t *testing.T) {
	const object = `[{"inner":{"n":1},"list":[ {"text":"b"} ]}]`
	c := jsonscan.New([]byte(object))
	c.EnterArray()
	require.True(t, c.Element())
	var outer, first members.Values
	outer.Read(&c, item, nil)
	at := outer.At(itemList)
	assert.Equal(t, `[ {"text":"b"} ]`, object[at.Start:at.End])
	assert.Zero(t, outer.At(itemText))
	list := outer.Cursor(itemList)
	list.EnterArray()
	require.True(t, list.Element())
	first.Read(&list, item, nil)
	at = first.At(itemText)
	assert.Equal(t, `"b"`, object[at.Start:at.End])
	assert.Equal(t, `"b"`, string(first.Filled(itemText)))
	assert.False(t, list.Element())
	assert.NoError(t, list.Finish())
}

// Of a value that is read again, repeated members are still found: the first reading has
// skipped the value.
func TestARepeatedMemberIsAnErrorInAnInnerList(t *testing.T) {
	v, _ := read(t, `{"list":[{"text":"a","TEXT":"b"}]}`)
	c := v.Cursor(itemList)
	c.EnterArray()
	require.True(t, c.Element())
	v.Read(&c, item, nil)
	var twice *jsonscan.DuplicateError
	assert.ErrorAs(t, c.Err(), &twice)
}

func TestFilledIsNothingForEmptyValues(t *testing.T) {
	for value, filled := range map[string]bool{`[]`: false, `{ }`: false, `[0]`: true} {
		v, _ := read(t, `{"list":`+value+`}`)
		assert.Equal(t, filled, v.Filled(itemList) != nil, value)
		assert.Equal(t, value, string(v.Raw(itemList)))
	}
}

func TestAnObjectIsReadWithoutAllocation(t *testing.T) {
	object := []byte(`{"text":"a","id":"b","list":[1],"inner":{"n":1},"vital":{"any":null},"unknown":null}`)
	var dropped translate.Dropped
	var c jsonscan.Cursor
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var v members.Values
		c = jsonscan.New(object)
		v.Read(&c, item, &dropped)
	}))
}

func TestTablesAreChecked(t *testing.T) {
	assert.PanicsWithValue(t, "members: a table has two members a", func() { members.New("").Skip("a b a") })
	table := members.New("")
	assert.PanicsWithValue(t, "members: a table has more than 24 members with a value", func() {
		for i := range members.Max + 1 {
			table.Inside("", strings.Repeat("x", i+1)).Of(members.Any, "y")
		}
	})
}
