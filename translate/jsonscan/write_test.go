package jsonscan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

func TestOnlyWhatMustBeEscapedIs(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `""`,
		"plain":                 `"plain"`,
		"\"\\/":                 `"\"\\/"`,
		"<a href='x'>&</a>":     `"<a href='x'>&</a>"`,
		"\b\f\n\r\t":            `"\b\f\n\r\t"`,
		"\x00\x01\x0b\x1f\x7f":  `"\u0000\u0001\u000b\u001f` + "\x7f\"",
		"é世🙂\u2028\u2029":       "\"é世🙂\u2028\u2029\"",
		"a\xffb\xc3(":           "\"a\ufffdb\ufffd(\"",
		"\xed\xa0\x80":          "\"\ufffd\ufffd\ufffd\"",
		"\ufffd kept \xe4\xb8":  "\"\ufffd kept \ufffd\ufffd\"",
		"1234567\"123456\n1234": `"1234567\"123456\n1234"`,
	} {
		assert.Equal(t, want, string(jsonscan.AppendString(nil, text)))
		assert.Equal(t, want, string(jsonscan.AppendString(nil, []byte(text))))
		assert.Equal(t, "x"+want[1:len(want)-1], string(jsonscan.AppendEscaped([]byte("x"), text)))
	}
}

func TestEscapesAreDecoded(t *testing.T) {
	for raw, want := range map[string]string{
		`""`:                       "",
		`"plain"`:                  "plain",
		`"\"\\\/\b\f\n\r\t"`:       "\"\\/\b\f\n\r\t",
		`"\u0041\u00e9\u4E16"`:     "Aé世",
		`"\u0000"`:                 "\x00",
		`"\ud83d\ude42"`:           "🙂",
		`"\uD83D\uDE42"`:           "🙂",
		`"\ud83d"`:                 "\ufffd",
		`"\ude42"`:                 "\ufffd",
		`"\ude42\ud83d"`:           "\ufffd\ufffd",
		`"\ud83d\ud83d\ude42"`:     "\ufffd🙂",
		`"\ud83dx\ude42"`:          "\ufffdx\ufffd",
		`"\ud83d\n"`:               "\ufffd\n",
		`"\ud83d\u0041"`:           "\ufffdA",
		`"\ud83d\\ude42"`:          "\ufffd\\ude42",
		`"a\\"`:                    `a\`,
		`"\ufffd"`:                 "\ufffd",
		`"12345678\u0039123456\\"`: `123456789123456\`,
	} {
		c := jsonscan.New([]byte(raw))
		text, ok := c.Text()
		assert.True(t, ok, raw)
		assert.Equal(t, want, string(text), raw)
		assert.NoError(t, c.Finish(), raw)
		assert.Equal(t, "x"+want, string(jsonscan.AppendText([]byte("x"), []byte(raw))), raw)
	}
}

func TestTextWithoutEscapesIsASliceOfTheSource(t *testing.T) {
	source := []byte(`"plain"`)
	c := jsonscan.New(source)
	text, _ := c.Text()
	assert.Same(t, &source[1], &text[0])
}

func TestCompactDropsOnlyTheSpaceBetweenTokens(t *testing.T) {
	for raw, want := range map[string]string{
		"":        "",
		" 1.50 ":  "1.50",
		`{"a":1}`: `{"a":1}`,
		" { \"a b\" :\t[ 1 ,\r\n2 ] , \"\\\" c\\u0020\" : \" \" } ": `{"a b":[1,2],"\" c\u0020":" "}`,
	} {
		assert.Equal(t, "x"+want, string(jsonscan.AppendCompact([]byte("x"), []byte(raw))), raw)
	}
}

func TestWritersSurviveWhatIsNotJSON(t *testing.T) {
	for _, raw := range []string{``, `"`, `"\`, `"\u`, `"\u12"`, `"\ud83d\u1"`, `\\\`, `[" `, "\"\x00 \"", `"\q"`} {
		assert.NotPanics(t, func() { jsonscan.AppendText(nil, []byte(raw)) }, raw)
		assert.NotPanics(t, func() { jsonscan.AppendCompact(nil, []byte(raw)) }, raw)
	}
}

func TestWritingIntoRoomAllocatesNothing(t *testing.T) {
	text, room := "text \"with\" escapes\n and é", make([]byte, 0, 256)
	raw := jsonscan.AppendString(nil, text)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		jsonscan.AppendString(room, text)
		jsonscan.AppendString(room, raw)
		jsonscan.AppendText(room, raw)
		jsonscan.AppendCompact(room, raw)
	}))
}
