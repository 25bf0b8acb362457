package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// check reads the document as one skipped value.
func check(document string) error {
	c := jsonscan.New([]byte(document))
	c.Skip()
	return c.Finish()
}

func TestKindFollowsFromTheFirstByte(t *testing.T) {
	for document, word := range map[string]string{
		"null": "null", "true": "boolean", "false": "boolean", "-1": "number", "0": "number",
		`""`: "string", "[]": "array", "{}": "object", " \t\r\n 7": "number",
	} {
		c := jsonscan.New([]byte(document))
		assert.Equal(t, word, c.Kind().String(), document)
		assert.Equal(t, word, c.Kind().String(), "looking consumes nothing: %s", document)
		assert.NoError(t, c.Err(), document)
	}
	assert.Equal(t, "invalid", jsonscan.Invalid.String())
	assert.Equal(t, "invalid", jsonscan.Kind(99).String())
}

func TestAWholeMessageIsReadMemberByMember(t *testing.T) {
	c := jsonscan.New([]byte(` { "model" : "m\u0031" , "n" : 16.0, "t":0.5, "stream":true, "stop":null,
		"messages":[ {"role":"user"} , {} ], "tools":[], "raw":{"b":1,"b":2} } `))
	require.True(t, c.EnterObject())
	var seen []string
	for c.Member() {
		seen = append(seen, string(c.Name()))
		switch string(c.Name()) {
		case "model":
			text, ok := c.Text()
			assert.True(t, ok)
			assert.Equal(t, "m1", string(text))
			assert.Equal(t, "model", string(c.Name()), "the name outlives the text")
		case "n":
			n, exact, ok := c.Int()
			assert.True(t, ok && exact)
			assert.EqualValues(t, 16, n)
		case "t":
			raw, ok := c.Number()
			assert.True(t, ok)
			assert.InDelta(t, 0.5, jsonscan.ParseFloat(raw), 0)
		case "stream":
			v, ok := c.Bool()
			assert.True(t, ok && v)
		case "stop":
			assert.True(t, c.Null())
		case "messages":
			require.True(t, c.EnterArray())
			for c.Element() {
				require.True(t, c.EnterObject())
				for c.Member() {
					raw, ok := c.RawString()
					assert.True(t, ok)
					assert.Equal(t, `"user"`, string(raw))
				}
			}
		case "tools":
			require.True(t, c.EnterArray())
			assert.False(t, c.Element())
		case "raw":
			assert.Equal(t, `{"b":1,"b":2}`, string(c.Skip()))
		}
	}
	require.NoError(t, c.Finish())
	assert.Equal(t, []string{"model", "n", "t", "stream", "stop", "messages", "tools", "raw"}, seen)
}

func TestOffsetsAllowSplicing(t *testing.T) {
	document := `{ "model" : "old" , "x": {"y": 1 } } `
	c := jsonscan.New([]byte(document))
	require.True(t, c.EnterObject())
	require.True(t, c.Member())
	start := c.Offset()
	_, ok := c.RawString()
	require.True(t, ok)
	assert.Equal(t, `{ "model" : "new" , "x": {"y": 1 } } `, document[:start]+`"new"`+document[c.Offset():])
	require.True(t, c.Member())
	require.True(t, c.EnterObject())
	require.True(t, c.Member())
	c.Skip()
	require.False(t, c.Member())
	assert.Equal(t, strings.Index(document, "}")+1, c.Offset(), "directly behind the object that was left")
	require.False(t, c.Member())
	assert.Equal(t, strings.LastIndex(document, "}")+1, c.Offset())
	assert.NoError(t, c.Finish())
}

func TestAValueOfAnotherKindIsNotConsumed(t *testing.T) {
	c := jsonscan.New([]byte(`"text"`))
	assert.False(t, c.EnterObject())
	assert.False(t, c.EnterArray())
	assert.False(t, c.Null())
	_, ok := c.Bool()
	assert.False(t, ok)
	_, ok = c.Number()
	assert.False(t, ok)
	_, _, ok = c.Int()
	assert.False(t, ok)
	text, ok := c.Text()
	assert.True(t, ok)
	assert.Equal(t, "text", string(text))
	assert.NoError(t, c.Finish())

	c = jsonscan.New([]byte(`1`))
	_, ok = c.Text()
	assert.False(t, ok)
	_, ok = c.RawString()
	assert.False(t, ok)
	assert.Equal(t, "1", string(c.Skip()))
	assert.NoError(t, c.Finish())
}

func TestSlicesCannotBeAppendedIntoTheSource(t *testing.T) {
	source := []byte(`{"name":"text","n":1}`)
	c := jsonscan.New(source)
	c.EnterObject()
	c.Member()
	_ = append(c.Name(), "#"...)
	text, _ := c.Text()
	_ = append(text, "#"...)
	c.Member()
	_ = append(c.Skip(), "#"...)
	assert.Equal(t, `{"name":"text","n":1}`, string(source))
}

func TestACopyReadsAhead(t *testing.T) {
	c := jsonscan.New([]byte(`{"a":{"type":"x","b":1},"c":2}`))
	require.True(t, c.EnterObject())
	require.True(t, c.Member())
	ahead := c
	require.True(t, ahead.EnterObject())
	require.True(t, ahead.Member())
	assert.Equal(t, "type", string(ahead.Name()))
	assert.Equal(t, `{"type":"x","b":1}`, string(c.Skip()))
	require.True(t, c.Member())
	assert.Equal(t, "2", string(c.Skip()))
	assert.False(t, c.Member())
	assert.NoError(t, c.Finish())
}

// invalid are documents that are refused, with the place and the reason.
var invalid = []struct {
	document string
	offset   int
	reason   string
}{
	{``, 0, "unexpected end"},
	{`  `, 2, "unexpected end"},
	{`nul`, 0, "an unknown word"},
	{`nulL`, 0, "an unknown word"},
	{`True`, 0, "a value is expected"},
	{`tru`, 0, "an unknown word"},
	{`falze`, 0, "an unknown word"},
	{`nullx`, 4, "something follows the value"},
	{`1 2`, 2, "something follows the value"},
	{`{}}`, 2, "something follows the value"},
	{`01`, 0, "a malformed number"},
	{`-`, 1, "a malformed number"},
	{`-01`, 1, "a malformed number"},
	{`+1`, 0, "a value is expected"},
	{`.5`, 0, "a value is expected"},
	{`1.`, 2, "a malformed number"},
	{`1.e1`, 2, "a malformed number"},
	{`1e`, 2, "a malformed number"},
	{`1e+`, 3, "a malformed number"},
	{`0x1`, 1, "something follows the value"},
	{`NaN`, 0, "a value is expected"},
	{`"`, 1, "unexpected end"},
	{`"abc`, 4, "unexpected end"},
	{`"\`, 2, "unexpected end"},
	{`"\x"`, 1, "a malformed escape"},
	{`"\u12"`, 1, "a malformed escape"},
	{`"\u12g4"`, 1, "a malformed escape"},
	{`"\U1234"`, 1, "a malformed escape"},
	{"\"a\nb\"", 2, "a control character in a string"},
	{"\"long enough for a word\x00\"", 23, "a control character in a string"},
	{"\"\x1f\"", 1, "a control character in a string"},
	{"\"\xff\"", 1, "invalid UTF-8"},
	{"\"\xed\xa0\x80\"", 1, "invalid UTF-8"},
	{"{} \xc3", 3, "invalid UTF-8"},
	{`[`, 1, "unexpected end"},
	{`[1`, 2, "unexpected end"},
	{`[1,`, 3, "unexpected end"},
	{`[1,]`, 3, "a value is expected"},
	{`[,1]`, 1, "a value is expected"},
	{`[1 2]`, 3, "a comma or the end of the container is expected"},
	{`[1}`, 2, "a comma or the end of the container is expected"},
	{`]`, 0, "a value is expected"},
	{`{`, 1, "a member name is expected"},
	{`{1:2}`, 1, "a member name is expected"},
	{`{"a"`, 4, "a colon is expected"},
	{`{"a" 1}`, 5, "a colon is expected"},
	{`{"a":}`, 5, "a value is expected"},
	{`{"a":1`, 6, "unexpected end"},
	{`{"a":1,}`, 7, "a member name is expected"},
	{`{"a":1]`, 6, "a comma or the end of the container is expected"},
	{`{"\q":1}`, 2, "a malformed escape"},
	{`{,}`, 1, "a member name is expected"},
	{`// 1`, 0, "a value is expected"},
	{"\f1", 0, "a value is expected"},
	{"\u00a01", 0, "a value is expected"},
	{"\ufeff\ufeff1", 3, "a value is expected"},
}

func TestInvalidDocumentsAreRefusedAtTheRightByte(t *testing.T) {
	for _, tc := range invalid {
		var syntax *jsonscan.SyntaxError
		if assert.ErrorAs(t, check(tc.document), &syntax, tc.document) {
			assert.Equal(t, tc.offset, syntax.Offset, tc.document)
			assert.Equal(t, tc.reason, syntax.Reason, tc.document)
		}
	}
}

// Skip and the cursor's own loops are two readers of the same grammar.
func TestWalkingRefusesWhatSkippingRefuses(t *testing.T) {
	for _, tc := range invalid {
		c := jsonscan.New([]byte(tc.document))
		walk(&c)
		var syntax *jsonscan.SyntaxError
		if assert.ErrorAs(t, c.Finish(), &syntax, tc.document) {
			assert.Equal(t, tc.offset, syntax.Offset, tc.document)
		}
	}
}

func TestErrorsHavePositionsAndNeverRepeatTheDocument(t *testing.T) {
	assert.EqualError(t, check(`{"secret": secret}`), "not valid JSON at byte 11")
	c := jsonscan.New([]byte(`{"secret":1,"SECRET":2}`))
	walk(&c)
	assert.EqualError(t, c.Err(), "duplicate object member at byte 12")
}

func TestOneByteOrderMarkIsTolerated(t *testing.T) {
	c := jsonscan.New([]byte("\ufeff {}"))
	assert.Equal(t, 4, c.Offset(), "offsets count the mark")
	assert.Equal(t, "{}", string(c.Skip()))
	assert.NoError(t, c.Finish())
}

func TestAfterAnErrorNothingIsRead(t *testing.T) {
	c := jsonscan.New([]byte(`{"a":1 "b":2}`))
	require.True(t, c.EnterObject())
	require.True(t, c.Member())
	c.Skip()
	require.False(t, c.Member())
	first := c.Err()
	require.Error(t, first)

	assert.Equal(t, jsonscan.Invalid, c.Kind())
	assert.Nil(t, c.Name())
	assert.Nil(t, c.Skip())
	assert.False(t, c.Member())
	assert.False(t, c.Element())
	assert.False(t, c.EnterObject())
	assert.False(t, c.EnterArray())
	assert.False(t, c.Null())
	_, ok := c.Text()
	assert.False(t, ok)
	_, _, ok = c.Int()
	assert.False(t, ok)
	assert.Equal(t, first, c.Finish())
	assert.Equal(t, first, c.Err())
}

func TestBugsOfTheCallerAreNoSyntaxErrors(t *testing.T) {
	for name, read := range map[string]func(c *jsonscan.Cursor){
		"a value read twice":           func(c *jsonscan.Cursor) { c.EnterArray(); c.Element(); c.Skip(); c.Skip() },
		"a value not read":             func(c *jsonscan.Cursor) { c.EnterArray(); c.Element(); c.Element() },
		"an element without its array": func(c *jsonscan.Cursor) { c.Element() },
		"an element not moved to":      func(c *jsonscan.Cursor) { c.EnterArray(); c.Skip() },
		"a document not read":          func(*jsonscan.Cursor) {},
		"a container not left":         func(c *jsonscan.Cursor) { c.EnterArray(); c.Element(); c.Skip() },
	} {
		c := jsonscan.New([]byte(`[1,2]`))
		read(&c)
		err := c.Finish()
		require.Error(t, err, name)
		var syntax *jsonscan.SyntaxError
		assert.NotErrorAs(t, err, &syntax, name)
	}
}

func TestDepthIsBounded(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`[{"a":`, depth/2) + "1" + strings.Repeat(`}]`, depth/2)
	}
	const limit = jsonscan.MaxDepth
	for name, read := range map[string]func(c *jsonscan.Cursor){
		"skipping": func(c *jsonscan.Cursor) { c.Skip() },
		"walking":  walk,
		"skipping below an open array": func(c *jsonscan.Cursor) {
			for c.EnterArray(); c.Element(); {
				c.Skip()
			}
		},
	} {
		c := jsonscan.New([]byte(nested(limit)))
		read(&c)
		assert.NoError(t, c.Finish(), name)

		c = jsonscan.New([]byte(nested(limit + 2)))
		read(&c)
		var syntax *jsonscan.SyntaxError
		require.ErrorAs(t, c.Finish(), &syntax, name)
		assert.Equal(t, "nested too deeply", syntax.Reason, name)
		assert.Equal(t, limit/2*len(`[{"a":`), syntax.Offset, name)
	}
	assert.Error(t, check(strings.Repeat("[", 1_000_000)))
	assert.Error(t, check(strings.Repeat("[]", 1_000_000)))
}

func TestNothingIsAllocatedForOrdinaryDocuments(t *testing.T) {
	body := transcript()
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		c := jsonscan.New(body)
		c.Skip()
		_ = c.Finish()
	}), "skipping")
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		c := jsonscan.New(body)
		walk(&c)
		_ = c.Finish()
	}), "walking")
}

// A value of another kind is skipped wherever it is: the loop that follows finds no
// element, and does not continue with the enclosing object.
func TestOpenPassesOverOtherKinds(t *testing.T) {
	c := jsonscan.New([]byte(`{"a":{"x":1},"b":[2,3],"c":"text","d":null,"e":{"y":4}}`))
	values := map[string]string{}
	for c.OpenObject(); c.Member(); {
		outer := string(c.Name())
		values[outer] = "other"
		if c.OpenObject() {
			values[outer] = ""
		}
		for c.Member() {
			values[outer] += string(c.Name()) + string(c.Skip())
		}
	}
	require.NoError(t, c.Finish())
	assert.Equal(t, map[string]string{"a": "x1", "b": "other", "c": "other", "d": "other", "e": "y4"}, values)

	c = jsonscan.New([]byte(`[[1,2],{"x":3},4]`))
	var elements []string
	for c.OpenArray(); c.Element(); {
		for c.OpenArray(); c.Element(); {
			elements = append(elements, string(c.Skip()))
		}
	}
	require.NoError(t, c.Finish())
	assert.Equal(t, []string{"1", "2"}, elements)
}
